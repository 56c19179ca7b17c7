import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { StoredContentKind } from './requests.ts'

/**
 * `private`: the company's administrators, and members of groups that may use the category.
 * `receipt_only`: nobody in this release.
 */
export const Visibility = z.enum(['public', 'receipt_only', 'private'])
export type Visibility = z.infer<typeof Visibility>

/** For pictures over 1,000,000 bytes: never, if the depositor chooses so, or always. */
export const KeepOriginalsSetting = z.enum(['no', 'person', 'yes'])
export type KeepOriginalsSetting = z.infer<typeof KeepOriginalsSetting>

export const Category = z.object({
  id: z.uuid(),
  names: z.object({ en: z.string(), fr: z.string() }),
  visibility: Visibility,
  keep_originals: KeepOriginalsSetting,
  /** What a deposit that names no category gets. A company has at most one. */
  default: z.boolean(),
  // with `fingerprint`, the file never leaves the browser
  store: StoredContentKind,
  // `null` for all; `image/*` for all that begin with `image/`
  media_types: z.nullable(z.array(z.string())),
  /**
   * ISO 8601, from the deposit on. Then the file is deleted and the record stays. `null`: never.
   */
  retention: z.nullable(z.string())
})
export type Category = z.infer<typeof Category>

/** Lists the categories in which the person can deposit, the default one first. */
export const listAllowedCategories = endpoint({
  method: 'GET',
  path: '/category',
  access: 'user',
  scopes: ['deposit'],
  input: z.strictObject({}),
  output: z.array(Category)
})

export const categoryCalls = { listAllowedCategories }
