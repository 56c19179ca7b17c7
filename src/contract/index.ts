import { adminCalls } from './admin-calls.ts'
import { calls } from './calls.ts'
import { cspReportStreams } from './csp-reports.ts'
import { depositStreams } from './deposits.ts'
import { docCalls, docStreams } from './docs.ts'
import { domainCalls } from './domains.ts'
import type { Endpoint, Stream } from './endpoint.ts'
import { healthCalls } from './health.ts'
import { requestStreams } from './requests.ts'

/** All API calls with a JSON answer. Guard tests and the API documentation use this list. */
export const endpoints = {
  ...calls,
  ...adminCalls,
  ...healthCalls,
  ...docCalls,
  ...domainCalls
} satisfies Record<string, Endpoint>

/** All API calls whose answer is not one JSON value, such as downloads and event streams. */
export const streams = {
  ...docStreams,
  ...depositStreams,
  ...requestStreams,
  ...cspReportStreams
} satisfies Record<string, Stream>
