import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { Store } from './requests.ts'

export const Visibility = z.enum(['public', 'receipt_only', 'private'])
export type Visibility = z.infer<typeof Visibility>

export const KeepOriginals = z.enum(['no', 'person', 'yes'])
export type KeepOriginals = z.infer<typeof KeepOriginals>

/** A kind of document, named in both languages. */
export const Category = z.object({
  id: z.uuid(),
  names: z.object({ en: z.string(), fr: z.string() }),
  visibility: Visibility,
  /** Whether pictures over 1,000,000 bytes are kept as they are: never, as the person chooses, or always. */
  keep_originals: KeepOriginals,
  /** A deposit that names no category goes here; one category of a company at most. */
  default: z.boolean(),
  /** Whether the bytes are kept, or the fingerprint alone, which never lets them leave the browser. */
  store: Store,
  /** The only media types taken; `null` where all are. */
  media_types: z.nullable(z.array(z.string()))
})
export type Category = z.infer<typeof Category>

/** The categories the caller may deposit in: the default first, then the oldest first. */
export const listCategories = endpoint({
  method: 'GET',
  path: '/category',
  access: 'user',
  input: z.strictObject({}),
  output: z.array(Category)
})
