import { disableUser, enableUser, listUsers, resendInvitation } from '../../contract/members.ts'
import * as members from '../domain/accounts/members.ts'
import { actingCompany } from './acting-company.ts'
import { type Api, person } from './context.ts'
import { mountEndpoint, mountList } from './mount.ts'

export function mountMembers(app: Api): void {
  mountList(app, listUsers, ({ id: _, ...page }, c) =>
    members.listUsers(c.get('deps'), { company_id: actingCompany(c), ...page })
  )

  mountEndpoint(app, resendInvitation, ({ id }, c) =>
    members.resendInvitation(c.get('deps'), { tenant: c.get('tenant'), person: person(c), id })
  )

  mountEndpoint(app, disableUser, (input, c) =>
    members.disableUser(c.get('deps'), { person: person(c), ...input })
  )

  mountEndpoint(app, enableUser, ({ id }, c) =>
    members.enableUser(c.get('deps'), { person: person(c), id })
  )
}
