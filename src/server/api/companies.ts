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
import { administeredCompany, callerAndCompany } from './kit/administered-company.ts'
import { parseIdempotencyKey } from './kit/admission.ts'
import { type Api, isFromDeveloper, signedInPerson } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'
import { canonicalEmailOf } from './users.ts'

export function mountCompanies(app: Api): void {
  mountList(app, listCompanies, (input, c) => companies.listCompanies(c.get('deps'), input))

  mountEndpoint(app, createCompany, async ({ email, locale, ...input }, c) => {
    const { body, replayed } = await creation.createCompanyWithAdministrator(c.get('deps'), {
      ...input,
      locale,
      email: canonicalEmailOf(email),
      by: signedInPerson(c),
      isDeveloper: isFromDeveloper(c),
      idempotencyKey: parseIdempotencyKey(c.req.header('idempotency-key'))
    })
    if (replayed) c.header('idempotent-replayed', 'true')
    return body
  })

  mountEndpoint(app, getCompany, (_input, c) =>
    companies.getCompany(c.get('deps'), administeredCompany(c))
  )

  mountEndpoint(app, updateCompany, ({ name }, c) =>
    companies.updateCompany(c.get('deps'), {
      ...callerAndCompany(c),
      name,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, suspendCompany, ({ reason }, c) =>
    companies.suspendCompany(c.get('deps'), { ...callerAndCompany(c), reason })
  )

  mountEndpoint(app, resumeCompany, (_input, c) =>
    companies.resumeCompany(c.get('deps'), callerAndCompany(c))
  )
}
