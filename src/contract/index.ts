import { adminCalls } from './admin-calls.ts'
import { auditStreams } from './audit.ts'
import { nonAdminCalls } from './calls.ts'
import { companyDepositCalls } from './company-deposits.ts'
import { cspReportStreams } from './csp-reports.ts'
import { depositStreams } from './deposits.ts'
import { docCalls, docStreams } from './docs.ts'
import { domainCalls } from './domains.ts'
import { healthCalls } from './health.ts'
import type { Endpoint, Stream } from './kit/endpoint.ts'
import { memberStreams } from './members.ts'
import { requestStreams } from './requests.ts'

/** All API calls with a JSON response, by name. Tests and the API documentation use this list. */
export const endpoints = {
  ...nonAdminCalls,
  ...adminCalls,
  ...companyDepositCalls,
  ...healthCalls,
  ...docCalls,
  ...domainCalls
} satisfies Record<string, Endpoint>

/**
 * All API calls whose request or response is not plain JSON, such as downloads and event streams,
 * by name.
 */
export const streams = {
  ...docStreams,
  ...depositStreams,
  ...requestStreams,
  ...memberStreams,
  ...auditStreams,
  ...cspReportStreams
} satisfies Record<string, Stream>
