import * as z from 'zod/mini'

/** Lower case, because the database has lower case and the server compares texts. */
export const Id = z.uuid().check(z.toLowerCase())
