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

export const endpoints = {
  ...nonAdminCalls,
  ...adminCalls,
  ...companyDepositCalls,
  ...healthCalls,
  ...domainConfigCalls
} satisfies Record<string, Endpoint>

export const nonJsonEndpoints = {
  ...nonJsonDocEndpoints,
  ...nonJsonDepositEndpoints,
  ...nonJsonRequestEndpoints,
  ...nonJsonMemberEndpoints,
  ...nonJsonAuditEndpoints,
  ...nonJsonCspReportEndpoints
} satisfies Record<string, NonJsonEndpoint>
