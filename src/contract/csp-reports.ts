import * as z from 'zod/mini'
import { nonJsonEndpoint } from './kit/endpoint.ts'

/**
 * Receives reports from browsers about pages that violate their content security policy. Accepts
 * the formats `application/reports+json` and `application/csp-report`. Logs only the directive, the
 * page and the source of each report.
 */
export const receiveCspReports = nonJsonEndpoint({
  method: 'POST',
  path: '/csp-report',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})

export const nonJsonCspReportEndpoints = { receiveCspReports }
