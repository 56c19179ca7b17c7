import * as z from 'zod/mini'
import { stream } from './kit/endpoint.ts'

/**
 * Receives the reports that browsers send when a page breaks its content security policy, as
 * `application/reports+json` or `application/csp-report`. Logs only the directive, the page and the
 * source.
 */
export const receiveCspReports = stream({
  method: 'POST',
  path: '/csp-report',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})

/** The calls by which browsers report violations of the content security policy. */
export const cspReportStreams = { receiveCspReports }
