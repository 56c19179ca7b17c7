import { getAttention, getAttentionOfAllCompanies, getUsageByDay } from '../../contract/overview.ts'
import { collectAttention, collectAttentionOfAllCompanies } from '../domain/companies/attention.ts'
import { readUsageDays } from '../domain/companies/usage-days.ts'
import { administeredCompanyId, callerAndAdministeredCompany } from './kit/administered-company.ts'
import type { Api } from './kit/context.ts'
import { mountEndpoint } from './kit/mount.ts'

export function mountOverview(app: Api): void {
  mountEndpoint(app, getUsageByDay, ({ id: _, ...query }, c) =>
    readUsageDays(c.get('deps'), { company_id: administeredCompanyId(c), ...query })
  )

  mountEndpoint(app, getAttention, (_input, c) => {
    const { company_id, by } = callerAndAdministeredCompany(c)
    const isOperator = by.permissions.includes('operator')
    return collectAttention(c.get('deps'), { company_id, isOperator })
  })

  mountEndpoint(app, getAttentionOfAllCompanies, (_input, c) =>
    collectAttentionOfAllCompanies(c.get('deps'))
  )
}
