import * as z from 'zod/mini'
import { type Access, endpoint, type KeyScope } from './endpoint.ts'
import { Id } from './ids.ts'
import { maxCodeUnitsCheck, patternCheck } from './text-checks.ts'

export const defaultPageSize = 50
const maxLimit = 200

/** Words in any order, regardless of case and accents. An item matches if it contains all. */
export const SearchText = z.optional(
  z
    .string()
    .check(
      z.minLength(1, { abort: true }),
      maxCodeUnitsCheck(100),
      patternCheck(/^[^\p{Cc}\p{Cs}]*$/u, 'no control characters')
    )
)

/** `name`, or `-name` for the reverse order. */
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
  cursor?: Cursor
  // besides `limit` and `cursor`
  input: Fields
}

/**
 * Defines a list in pages. `cursor` is the last id of the page before. If that item has been
 * deleted, the call fails with `not_found` and the caller begins again.
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
