import { adminCalls } from './admin-calls.ts'
import { rawAuditEndpoints } from './audit.ts'
import { nonAdminCalls } from './calls.ts'
import { companyDepositCalls } from './company-deposits.ts'
import { rawCspReportEndpoints } from './csp-reports.ts'
import { rawDepositEndpoints } from './deposits.ts'
import { docCalls, rawDocEndpoints } from './docs.ts'
import { domainConfigCalls } from './domains.ts'
import { healthCalls } from './health.ts'
import type { Endpoint, RawEndpoint } from './kit/endpoint.ts'
import { rawMemberEndpoints } from './members.ts'
import { rawRequestEndpoints } from './requests.ts'

/** All API calls with a JSON response, by name. Tests and the API documentation use this list. */
export const endpoints = {
  ...nonAdminCalls,
  ...adminCalls,
  ...companyDepositCalls,
  ...healthCalls,
  ...docCalls,
  ...domainConfigCalls
} satisfies Record<string, Endpoint>

/**
 * All API calls whose request or response is not plain JSON, such as downloads and event streams,
 * by name.
 */
export const rawEndpoints = {
  ...rawDocEndpoints,
  ...rawDepositEndpoints,
  ...rawRequestEndpoints,
  ...rawMemberEndpoints,
  ...rawAuditEndpoints,
  ...rawCspReportEndpoints
} satisfies Record<string, RawEndpoint>
