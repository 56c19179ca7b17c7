import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

export const Visibility = z.enum(['public', 'receipt_only', 'private'])
export type Visibility = z.infer<typeof Visibility>

/** A kind of document, named in both languages. */
export const Category = z.object({
  id: z.uuid(),
  names: z.object({ en: z.string(), fr: z.string() }),
  visibility: Visibility
})
export type Category = z.infer<typeof Category>

/** The categories the caller may deposit in. */
export const listCategories = endpoint({
  method: 'GET',
  path: '/category',
  access: 'user',
  input: z.strictObject({}),
  output: z.array(Category)
})
