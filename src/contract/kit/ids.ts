import * as z from 'zod/mini'

/**
 * Schema of an id that a caller gives: a UUID. Parsing changes it to lower case, as the database
 * stores ids, so that equal ids are equal texts.
 */
export const Id = z.uuid().check(z.toLowerCase())
