import {
  createCompany,
  getCompany,
  listCompanies,
  resumeCompany,
  suspendCompany,
  updateCompany
} from '../../contract/companies.ts'
import * as companies from '../domain/companies/companies.ts'
import * as creation from '../domain/installation/company-creation.ts'
import { type Api, authenticatedCaller, isFromDeveloperMachine } from './kit/context.ts'
import { mountIdempotent, mountList } from './kit/mount.ts'
import { mountAdminEndpoint } from './kit/mount-admin.ts'
import { canonicalizeEmail } from './users.ts'

export function mountCompanies(app: Api): void {
  mountList(app, listCompanies, (input, c) => companies.listCompanies(c.get('deps'), input))

  mountIdempotent(app, createCompany, ({ email, locale, ...input }, c, idempotencyKey) =>
    creation.createCompanyWithAdministrator(c.get('deps'), {
      ...input,
      locale,
      email: canonicalizeEmail(email),
      by: authenticatedCaller(c),
      isDeveloper: isFromDeveloperMachine(c),
      idempotencyKey
    })
  )

  mountAdminEndpoint(app, getCompany, (deps, { company_id }) =>
    companies.getCompany(deps, company_id)
  )
  mountAdminEndpoint(app, updateCompany, companies.updateCompany)
  mountAdminEndpoint(app, suspendCompany, companies.suspendCompany)
  mountAdminEndpoint(app, resumeCompany, companies.resumeCompany)
}
