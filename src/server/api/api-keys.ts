import {
  createApiKey,
  createCompanyApiKey,
  deleteApiKey,
  deleteCompanyApiKey,
  deleteUserApiKey,
  listApiKeys,
  listCompanyApiKeys,
  listUserApiKeys,
  renewApiKey,
  renewCompanyApiKey
} from '../../contract/api-keys.ts'
import * as apiKeys from '../domain/accounts/api-keys.ts'
import {
  administeredCompanyAsMailSender,
  callerAndAdministeredCompany
} from './kit/administered-company.ts'
import { type Api, type ApiContext, authenticatedCaller, hostCompanyId } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'

export function mountApiKeys(app: Api): void {
  mountList(app, listApiKeys, (page, c) =>
    apiKeys.listApiKeys(c.get('deps'), { ...ofCaller(c), ...page })
  )

  mountEndpoint(app, createApiKey, (input, c) =>
    apiKeys.createApiKey(c.get('deps'), { ...ofCaller(c), sender: c.get('tenant'), ...input })
  )

  mountEndpoint(app, renewApiKey, (input, c) =>
    apiKeys.renewApiKey(c.get('deps'), { ...ofCaller(c), sender: c.get('tenant'), ...input })
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

  mountEndpoint(app, createCompanyApiKey, async ({ id: _, ...input }, c) =>
    apiKeys.createApiKey(c.get('deps'), { ...(await ofCompany(c)), ...input })
  )

  mountEndpoint(app, renewCompanyApiKey, async ({ keyId: id, expires_in_days }, c) =>
    apiKeys.renewApiKey(c.get('deps'), {
      ...(await ofCompany(c)),
      user_id: undefined,
      id,
      expires_in_days
    })
  )

  mountEndpoint(app, deleteCompanyApiKey, ({ keyId }, c) =>
    apiKeys.deleteApiKey(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      user_id: undefined,
      id: keyId
    })
  )

  mountList(app, listUserApiKeys, ({ id: user_id, ...page }, c) =>
    apiKeys.listMemberApiKeys(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      user_id,
      ...page
    })
  )

  mountEndpoint(app, deleteUserApiKey, ({ id: user_id, keyId }, c) =>
    apiKeys.deleteMemberApiKey(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      user_id,
      id: keyId
    })
  )
}

async function ofCompany(c: ApiContext) {
  const sender = await administeredCompanyAsMailSender(c, false)
  return { ...callerAndAdministeredCompany(c), sender }
}

function ofCaller(c: ApiContext) {
  const by = authenticatedCaller(c)
  return { company_id: hostCompanyId(c), user_id: by.id, by }
}
