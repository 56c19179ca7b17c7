import * as z from 'zod/mini'
import { type Access, endpoint } from './endpoint.ts'
import { maxCodeUnits, pattern } from './text-checks.ts'

/** The number of items on a page for a call without `limit`. */
export const defaultLimit = 50
/** The largest `limit` of a call. */
const maxLimit = 200

/** Words that an item contains, in any order, regardless of case and accents. */
export const Search = z.optional(
  z
    .string()
    .check(
      z.minLength(1, { abort: true }),
      maxCodeUnits(100),
      pattern(/^\P{Cc}*$/u, 'no control characters')
    )
)

/** Accepts the name of a key, or the name after a minus sign for the reverse order. */
export function sortBy<Key extends string>(...keys: Key[]) {
  const orders = keys.flatMap((key): (Key | `-${Key}`)[] => [key, `-${key}`])
  return z.optional(z.enum(orders))
}

interface ListOptions<Item extends z.ZodMiniType, Fields extends z.core.$ZodLooseShape> {
  path: string
  access: Access
  item: Item
  /** Parameters of the path, `q` and `sort` where the list has them, and its filters. */
  input: Fields
}

/**
 * Defines a list in pages: a bare array, and a header `Link` with `rel="next"` while more items
 * follow. `cursor` is the id of the last item seen. An item that was deleted has no place in the list,
 * so its id answers `not_found`, and the caller begins again without a cursor.
 */
export function list<Item extends z.ZodMiniType, Fields extends z.core.$ZodLooseShape>({
  path,
  access,
  item,
  input
}: ListOptions<Item, Fields>) {
  return endpoint({
    method: 'GET',
    path,
    access,
    paged: true,
    input: z.strictObject({
      limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(maxLimit))),
      cursor: z.optional(z.uuid()),
      ...input
    }),
    output: z.array(item)
  })
}
