import {
  checkDomain,
  createDomain,
  deleteDomain,
  deleteThemeDraft,
  getDomain,
  getDomainConfig,
  getDomainThemes,
  listDomains,
  makeDomainPrimary,
  moveDomainToCompany,
  publishEarlierTheme,
  publishTheme,
  saveThemeDraft,
  updateDomain
} from '../../contract/domains.ts'
import { AppError } from '../../contract/kit/errors.ts'
import * as admin from '../domain/companies/domain-admin.ts'
import * as themes from '../domain/companies/domain-themes.ts'
import * as checks from '../domain/host-proofs/domain-checks.ts'
import * as claims from '../domain/host-proofs/domain-claims.ts'
import { callerAndAdministeredCompany } from './kit/administered-company.ts'
import { type Api, isFromDeveloperMachine } from './kit/context.ts'
import { mountEndpoint, mountIdempotent } from './kit/mount.ts'
import { mountAdminEndpoint, mountAdminList } from './kit/mount-admin.ts'

export function mountDomains(app: Api): void {
  mountAdminList(app, listDomains, admin.listDomains)
  mountAdminEndpoint(app, getDomain, admin.getDomain)
  mountAdminEndpoint(app, deleteDomain, claims.deleteDomain)
  mountAdminEndpoint(app, checkDomain, checks.checkDomain)
  mountAdminEndpoint(app, makeDomainPrimary, admin.makeDomainPrimary)

  mountIdempotent(app, createDomain, (input, c, idempotencyKey) =>
    claims.createDomain(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      ...input,
      isDeveloper: isFromDeveloperMachine(c),
      idempotencyKey
    })
  )

  mountAdminEndpoint(app, updateDomain, (deps, { id, company_id, by, version, ...changes }) =>
    admin.updateDomain(deps, { id, company_id, by, version, changes })
  )

  // the input has the company that gets the domain as `company_id`
  mountEndpoint(app, moveDomainToCompany, ({ id, company_id: to }, c) =>
    claims.moveDomainToCompany(c.get('deps'), { ...callerAndAdministeredCompany(c), id, to })
  )

  mountAdminEndpoint(app, getDomainThemes, themes.getDomainThemes)
  mountAdminEndpoint(app, deleteThemeDraft, themes.deleteThemeDraft)
  mountAdminEndpoint(app, publishTheme, themes.publishTheme)
  mountAdminEndpoint(app, publishEarlierTheme, themes.publishEarlierTheme)

  mountAdminEndpoint(app, saveThemeDraft, (deps, { id, company_id, by, version, ...changes }) =>
    themes.saveThemeDraft(deps, { id, company_id, by, version, changes })
  )

  mountEndpoint(app, getDomainConfig, async ({ domain }, c) => {
    const tenant = c.get('tenant')
    if (domain !== tenant.host) {
      throw new AppError('unknown_domain', 'This host answers for its own domain only')
    }
    return tenant.config
  })
}
