import { getDomainConfig, updateDomain } from '../../contract/domains.ts'
import { AppError } from '../../contract/errors.ts'
import * as domains from '../domain/companies/domains.ts'
import { act } from './acting-company.ts'
import type { Api } from './context.ts'
import { mountEndpoint } from './mount.ts'

export function mountDomains(app: Api): void {
  mountEndpoint(app, updateDomain, ({ id, ...changes }, c) =>
    domains.updateDomain(c.get('deps'), {
      ...act(c),
      id,
      changes,
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
