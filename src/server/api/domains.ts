import { getDomainConfig } from '../../contract/domains.ts'
import { AppError } from '../../contract/errors.ts'
import type { Api } from './context.ts'
import { on } from './on.ts'

export function mountDomains(app: Api): void {
  on(app, getDomainConfig, async ({ domain }, c) => {
    const tenant = c.get('tenant')
    if (domain !== tenant.host) {
      throw new AppError('unknown_domain', 'This host answers for its own domain only')
    }
    return tenant.config
  })
}
