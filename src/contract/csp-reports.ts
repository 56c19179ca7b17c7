import * as z from 'zod/mini'
import { stream } from './endpoint.ts'

/**
 * Takes reports of violations of our content security policy: `application/reports+json` or
 * `application/csp-report`. Only the directive, the page and the source are logged.
 */
export const reportPolicy = stream({
  method: 'POST',
  path: '/csp-report',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})
