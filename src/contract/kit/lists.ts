import * as z from 'zod/mini'
import { type Access, endpoint, type KeyScope } from './endpoint.ts'
import { Id } from './ids.ts'
import { maxCodeUnitsCheck, patternCheck } from './text-checks.ts'

/** Number of items on a page of a list if the call has no `limit`. */
export const defaultPageSize = 50
const maxLimit = 200

/**
 * Words to search for. An item matches if it contains all words, in any order, regardless of case
 * and accents.
 */
export const SearchText = z.optional(
  z
    .string()
    .check(
      z.minLength(1, { abort: true }),
      maxCodeUnitsCheck(100),
      patternCheck(/^[^\p{Cc}\p{Cs}]*$/u, 'no control characters')
    )
)

/**
 * Schema of the query parameter `sort` of a list. Accepts each of `keys` and, for the reverse
 * order, each of `keys` after a minus sign: `name`, `-name`.
 */
export function sortParameter<Key extends string>(...keys: Key[]) {
  const orders = keys.flatMap((key): (Key | `-${Key}`)[] => [key, `-${key}`])
  return z.optional(z.enum(orders))
}

interface ListOptions<
  Item extends z.ZodMiniType,
  Fields extends z.core.$ZodLooseShape,
  Cursor extends z.ZodMiniType<string>
> {
  path: string
  access: Access
  scopes?: readonly KeyScope[]
  item: Item
  /** Schema of the query parameter `cursor`. By default, this is `Id`. */
  cursor?: Cursor
  /**
   * Fields of the call's input besides `limit` and `cursor`: path parameters, `q`, `sort` and
   * filters.
   */
  input: Fields
}

/**
 * Defines a call that lists items in pages. The output is an array. If more items follow, the
 * header `Link` has the address of the next page as `rel="next"`. `cursor` is the id of the last
 * item on the previous page. If that item has been deleted, the call fails with `not_found`, and
 * the caller must begin again without a cursor.
 */
export function listEndpoint<
  Item extends z.ZodMiniType,
  Fields extends z.core.$ZodLooseShape,
  Cursor extends z.ZodMiniType<string>
>({ path, access, scopes, item, cursor, input }: ListOptions<Item, Fields, Cursor>) {
  return endpoint({
    method: 'GET',
    path,
    access,
    ...(scopes && { scopes }),
    paged: true,
    input: z.strictObject({
      limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(maxLimit))),
      cursor: z.optional<z.ZodMiniType<string>>(cursor ?? Id),
      ...input
    }),
    output: z.array(item)
  })
}
