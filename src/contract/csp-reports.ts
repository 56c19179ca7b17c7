import * as z from 'zod/mini'
import { nonJsonEndpoint } from './kit/endpoint.ts'

/** Accepts browser reports of refused scripts and styles. */
export const receiveCspReports = nonJsonEndpoint({
  method: 'POST',
  path: '/csp-report',
  access: 'public',
  input: z.strictObject({}),
  message: z.void()
})

export const nonJsonCspReportEndpoints = { receiveCspReports }
