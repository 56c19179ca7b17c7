import * as z from 'zod/mini'
import { stream } from './endpoint.ts'

/**
 * Receives a browser's reports of violations of our content security policy:
 * `application/reports+json` or `application/csp-report`. Logs only the directive, the page and the
 * source.
 */
export const reportPolicy = stream({
  method: 'POST',
  path: '/csp-report',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})

export const cspReportStreams = { reportPolicy }
