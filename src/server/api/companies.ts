import { getCompany } from '../../contract/companies.ts'
import * as companies from '../domain/companies/companies.ts'
import { actingCompany } from './acting-company.ts'
import type { Api } from './context.ts'
import { mountEndpoint } from './mount.ts'

export function mountCompanies(app: Api): void {
  mountEndpoint(app, getCompany, (_input, c) =>
    companies.getCompany(c.get('deps'), actingCompany(c))
  )
}
