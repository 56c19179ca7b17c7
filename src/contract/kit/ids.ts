import * as z from 'zod/mini'

/**
 * Schema of an id that a caller sends: a UUID. Parsing turns it into lower case, because the
 * database stores ids in lower case and the server compares them as texts.
 */
export const Id = z.uuid().check(z.toLowerCase())
