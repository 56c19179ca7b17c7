import * as z from 'zod/mini'
import { stream } from './endpoint.ts'

/**
 * What a browser has refused on one of our pages, by the pages' own policy: `application/reports+json`
 * or `application/csp-report`. Only which rule, page and source it was is logged.
 */
export const reportPolicy = stream({
  method: 'POST',
  path: '/csp-report',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})
