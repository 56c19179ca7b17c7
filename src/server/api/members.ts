import { disableUser, enableUser, listUsers, resendInvitation } from '../../contract/members.ts'
import * as members from '../domain/accounts/members.ts'
import { act, actingCompany, actingTenant } from './acting-company.ts'
import type { Api } from './context.ts'
import { mountEndpoint, mountList } from './mount.ts'
import { canonicalEmailOf } from './users.ts'

export function mountMembers(app: Api): void {
  mountList(app, listUsers, ({ id: _, email, ...page }, c) =>
    members.listUsers(c.get('deps'), {
      company_id: actingCompany(c),
      ...page,
      email: email === undefined ? undefined : canonicalEmailOf(email)
    })
  )

  mountEndpoint(app, resendInvitation, async ({ id }, c) => {
    const tenant = await actingTenant(c)
    return members.resendInvitation(c.get('deps'), { tenant, by: act(c).by, id })
  })

  mountEndpoint(app, disableUser, (input, c) =>
    members.disableUser(c.get('deps'), { ...act(c), ...input })
  )

  mountEndpoint(app, enableUser, ({ id }, c) =>
    members.enableUser(c.get('deps'), { ...act(c), id })
  )
}
