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
  moveDomain,
  publishTheme,
  restoreTheme,
  saveThemeDraft,
  updateDomain
} from '../../contract/domains.ts'
import { AppError } from '../../contract/kit/errors.ts'
import * as admin from '../domain/companies/domain-admin.ts'
import * as themes from '../domain/companies/domain-themes.ts'
import * as checks from '../domain/host-proofs/domain-checks.ts'
import * as claims from '../domain/host-proofs/domain-claims.ts'
import { administeredCompany, callerAndCompany } from './kit/administered-company.ts'
import { parseIdempotencyKey } from './kit/admission.ts'
import { type Api, isFromDeveloper } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'

export function mountDomains(app: Api): void {
  mountList(app, listDomains, ({ id: _, ...page }, c) =>
    admin.listDomains(c.get('deps'), { company_id: administeredCompany(c), ...page })
  )

  mountEndpoint(app, createDomain, async (input, c) => {
    const { body, replayed } = await claims.createDomain(c.get('deps'), {
      ...callerAndCompany(c),
      ...input,
      isDeveloper: isFromDeveloper(c),
      idempotencyKey: parseIdempotencyKey(c.req.header('idempotency-key'))
    })
    if (replayed) c.header('idempotent-replayed', 'true')
    return body
  })

  mountEndpoint(app, deleteDomain, ({ id }, c) =>
    claims.deleteDomain(c.get('deps'), {
      ...callerAndCompany(c),
      id,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, checkDomain, ({ id }, c) =>
    checks.checkDomain(c.get('deps'), { ...callerAndCompany(c), id })
  )

  mountEndpoint(app, moveDomain, ({ id, company_id: to }, c) =>
    claims.moveDomain(c.get('deps'), { ...callerAndCompany(c), id, to })
  )

  mountEndpoint(app, makeDomainPrimary, ({ id }, c) =>
    admin.makeDomainPrimary(c.get('deps'), { ...callerAndCompany(c), id })
  )

  mountEndpoint(app, getDomain, ({ id }, c) =>
    admin.getDomain(c.get('deps'), { company_id: administeredCompany(c), id })
  )

  mountEndpoint(app, updateDomain, ({ id, ...changes }, c) =>
    admin.updateDomain(c.get('deps'), {
      ...callerAndCompany(c),
      id,
      changes,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, getDomainThemes, ({ id }, c) =>
    themes.getThemes(c.get('deps'), { company_id: administeredCompany(c), id })
  )

  mountEndpoint(app, saveThemeDraft, ({ id, ...changes }, c) =>
    themes.saveDraft(c.get('deps'), {
      ...callerAndCompany(c),
      id,
      changes,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, deleteThemeDraft, ({ id }, c) =>
    themes.deleteDraft(c.get('deps'), {
      ...callerAndCompany(c),
      id,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, publishTheme, ({ id }, c) =>
    themes.publishDraft(c.get('deps'), {
      ...callerAndCompany(c),
      id,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, restoreTheme, (input, c) =>
    themes.restoreTheme(c.get('deps'), {
      ...callerAndCompany(c),
      ...input,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, getDomainConfig, async ({ domain }, c) => {
    const tenant = c.get('tenant')
    if (domain !== tenant.host) {
      throw new AppError('unknown_domain', 'This host answers for its own domain only')
    }
    return tenant.config
  })
}
