import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { StoredContentKind } from './requests.ts'

/**
 * Who can verify the documents of a category. `public`: everybody. `private`: the company's
 * administrators, and members of the groups that may use the category. `receipt_only`: nobody in
 * this release.
 */
export const Visibility = z.enum(['public', 'receipt_only', 'private'])
export type Visibility = z.infer<typeof Visibility>

/**
 * Whether pictures over 1,000,000 bytes are sent in their original quality: never (`no`), if the
 * depositor chooses so (`person`), or always (`yes`).
 */
export const KeepOriginalsSetting = z.enum(['no', 'person', 'yes'])
export type KeepOriginalsSetting = z.infer<typeof KeepOriginalsSetting>

/** A category of documents, with its names in English and French. */
export const Category = z.object({
  id: z.uuid(),
  names: z.object({ en: z.string(), fr: z.string() }),
  visibility: Visibility,
  keep_originals: KeepOriginalsSetting,
  /**
   * Whether this is the company's default category. A company has at most one. If the depositor may
   * use several categories, including the default one, a deposit that names no category gets the
   * default one.
   */
  default: z.boolean(),
  /**
   * Whether deposits in the category store the file or only its fingerprint. If only the
   * fingerprint is stored, the file never leaves the browser.
   */
  store: StoredContentKind,
  /**
   * The media types that deposits in the category may have, or `null` for all. `image/*` stands for
   * all types that begin with `image/`.
   */
  media_types: z.nullable(z.array(z.string())),
  /**
   * How long the file of a deposit is stored, as an ISO 8601 duration that begins with the deposit.
   * Afterwards the file is deleted, but the record of the deposit stays. `null`: the file is never
   * deleted.
   */
  retention: z.nullable(z.string())
})
export type Category = z.infer<typeof Category>

/**
 * Lists the categories that the caller may use through their groups. The first is the company's
 * default category, if it is among them. The others follow, oldest first.
 */
export const listAllowedCategories = endpoint({
  method: 'GET',
  path: '/category',
  access: 'user',
  scopes: ['deposit'],
  input: z.strictObject({}),
  output: z.array(Category)
})

export const categoryCalls = { listAllowedCategories }
