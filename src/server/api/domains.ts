import { getDomainConfig, updateDomain } from '../../contract/domains.ts'
import { AppError } from '../../contract/errors.ts'
import * as domains from '../domain/companies/domains.ts'
import { type Api, companyOf } from './context.ts'
import { mountEndpoint } from './mount.ts'
import { refusedField } from './refused-fields.ts'

export function mountDomains(app: Api): void {
  mountEndpoint(app, updateDomain, async ({ id, ...changes }, c) => {
    const config = await domains.updateDomain(c.get('deps'), {
      company_id: companyOf(c),
      id,
      changes,
      version: versionOf(c.req.header('if-match'))
    })
    c.header('etag', `"${config.version}"`)
    return config
  })

  mountEndpoint(app, getDomainConfig, async ({ domain }, c) => {
    const tenant = c.get('tenant')
    if (domain !== tenant.host) {
      throw new AppError('unknown_domain', 'This host answers for its own domain only')
    }
    c.header('etag', `"${tenant.config.version}"`)
    return tenant.config
  })
}

/**
 * Returns the version in an `If-Match` header: `'"7"'` → `7`. Returns undefined for `*` and without
 * a header, which match any version.
 */
function versionOf(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined
  const [, version] = /^"(\d{1,15})"$/.exec(ifMatch) ?? []
  if (version !== undefined) return Number(version)
  throw refusedField('if-match', { rule: 'format', detail: 'a version in quotes' })
}
