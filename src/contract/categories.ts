import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { list, Search, sortBy } from './lists.ts'
import { Store } from './requests.ts'

export const Visibility = z.enum(['public', 'receipt_only', 'private'])
export type Visibility = z.infer<typeof Visibility>

export const KeepOriginals = z.enum(['no', 'person', 'yes'])
export type KeepOriginals = z.infer<typeof KeepOriginals>

/** A kind of document, with names in both languages. */
export const Category = z.object({
  id: z.uuid(),
  names: z.object({ en: z.string(), fr: z.string() }),
  visibility: Visibility,
  /**
   * Whether pictures over 1,000,000 bytes are sent without reduction: never, if the person chooses
   * so, or always.
   */
  keep_originals: KeepOriginals,
  /** The category for deposits that name none. A company has at most one. */
  default: z.boolean(),
  /**
   * Whether deposits store the file or only its fingerprint. A file whose fingerprint alone is
   * stored never leaves the browser.
   */
  store: Store,
  /** The accepted media types, or `null` for all. */
  media_types: z.nullable(z.array(z.string()))
})
export type Category = z.infer<typeof Category>

/**
 * Lists the categories in which the caller may deposit. The company's default comes first, the
 * others by age, oldest first.
 */
export const listCategories = endpoint({
  method: 'GET',
  path: '/category',
  access: 'user',
  input: z.strictObject({}),
  output: z.array(Category)
})

/** Lists the categories of a company or of one group, the oldest first unless `sort` says otherwise. */
export const listCompanyCategories = list({
  path: '/company/{id}/categories',
  access: 'admin',
  item: Category,
  input: { id: z.uuid(), q: Search, sort: sortBy('created'), group: z.optional(z.uuid()) }
})

export const categoryCalls = { listCategories }
export const companyCategoryCalls = { listCompanyCategories }
