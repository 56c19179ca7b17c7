import {
  createApiKey,
  createCompanyApiKey,
  deleteApiKey,
  deleteCompanyApiKey,
  listApiKeys,
  listCompanyApiKeys
} from '../../contract/api-keys.ts'
import * as apiKeys from '../domain/accounts/api-keys.ts'
import { callerAndAdministeredCompany } from './kit/administered-company.ts'
import { type Api, type ApiContext, authenticatedCaller, hostCompanyId } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'

export function mountApiKeys(app: Api): void {
  mountList(app, listApiKeys, (page, c) =>
    apiKeys.listApiKeys(c.get('deps'), { ...ofCaller(c), ...page })
  )

  mountEndpoint(app, createApiKey, (input, c) =>
    apiKeys.createApiKey(c.get('deps'), { ...ofCaller(c), ...input })
  )

  mountEndpoint(app, deleteApiKey, ({ id }, c) =>
    apiKeys.deleteApiKey(c.get('deps'), { ...ofCaller(c), id })
  )

  mountList(app, listCompanyApiKeys, ({ id: _, ...page }, c) =>
    apiKeys.listApiKeys(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      user_id: undefined,
      ...page
    })
  )

  mountEndpoint(app, createCompanyApiKey, ({ id: _, ...input }, c) =>
    apiKeys.createApiKey(c.get('deps'), { ...callerAndAdministeredCompany(c), ...input })
  )

  mountEndpoint(app, deleteCompanyApiKey, ({ keyId }, c) =>
    apiKeys.deleteApiKey(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      user_id: undefined,
      id: keyId
    })
  )
}

function ofCaller(c: ApiContext) {
  const by = authenticatedCaller(c)
  return { company_id: hostCompanyId(c), user_id: by.id, by }
}
