import { apiKeyCalls } from './api-keys.ts'
import { auditCalls } from './audit.ts'
import { companyCalls } from './companies.ts'
import { companyCategoryCalls } from './company-categories.ts'
import { dataSourceCalls } from './data-sources.ts'
import { domainAdminCalls } from './domains.ts'
import { groupCalls } from './groups.ts'
import { importCalls } from './imports.ts'
import { memberCalls } from './members.ts'
import { overviewCalls } from './overview.ts'

// apart from `nonAdminCalls`, so that other pages do not load them
export const adminCalls = {
  ...companyCalls,
  ...domainAdminCalls,
  ...memberCalls,
  ...groupCalls,
  ...importCalls,
  ...companyCategoryCalls,
  ...dataSourceCalls,
  ...auditCalls,
  ...overviewCalls,
  ...apiKeyCalls
}
