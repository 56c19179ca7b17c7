import { adminCalls } from './admin-calls.ts'
import { nonJsonAuditEndpoints } from './audit.ts'
import { nonAdminCalls } from './calls.ts'
import { companyDepositCalls } from './company-deposits.ts'
import { nonJsonCspReportEndpoints } from './csp-reports.ts'
import { nonJsonDepositEndpoints } from './deposits.ts'
import { nonJsonDocEndpoints } from './docs.ts'
import { domainConfigCalls } from './domains.ts'
import { healthCalls } from './health.ts'
import type { Endpoint, NonJsonEndpoint } from './kit/endpoint.ts'
import { nonJsonMemberEndpoints } from './members.ts'
import { nonJsonRequestEndpoints } from './requests.ts'

/** All API calls with a JSON response, by name. Tests and the API documentation use this list. */
export const endpoints = {
  ...nonAdminCalls,
  ...adminCalls,
  ...companyDepositCalls,
  ...healthCalls,
  ...domainConfigCalls
} satisfies Record<string, Endpoint>

/**
 * All API calls whose request or response is not plain JSON, such as downloads and event streams,
 * by name.
 */
export const nonJsonEndpoints = {
  ...nonJsonDocEndpoints,
  ...nonJsonDepositEndpoints,
  ...nonJsonRequestEndpoints,
  ...nonJsonMemberEndpoints,
  ...nonJsonAuditEndpoints,
  ...nonJsonCspReportEndpoints
} satisfies Record<string, NonJsonEndpoint>
