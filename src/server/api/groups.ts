import {
  addGroupCategory,
  addGroupUser,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  removeGroupCategory,
  removeGroupUser,
  updateGroup
} from '../../contract/groups.ts'
import * as members from '../domain/companies/group-members.ts'
import * as groups from '../domain/companies/groups.ts'
import { callerAndAdministeredCompany } from './kit/administered-company.ts'
import type { Api } from './kit/context.ts'
import { mountIdempotent } from './kit/mount.ts'
import { mountAdminEndpoint, mountAdminList } from './kit/mount-admin.ts'

export function mountGroups(app: Api): void {
  mountAdminList(app, listGroups, groups.listGroups)
  mountAdminEndpoint(app, getGroup, groups.getGroup)
  mountAdminEndpoint(app, updateGroup, groups.updateGroup)
  mountAdminEndpoint(app, deleteGroup, groups.deleteGroup)

  mountIdempotent(app, createGroup, (settings, c, idempotencyKey) =>
    groups.createGroup(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      ...settings,
      idempotencyKey
    })
  )

  mountAdminEndpoint(app, addGroupUser, (deps, { groupId: group_id, ...input }) =>
    members.addGroupUser(deps, { group_id, ...input })
  )

  mountAdminEndpoint(app, removeGroupUser, (deps, { groupId, userId, ...caller }) =>
    members.removeGroupUser(deps, { group_id: groupId, user_id: userId, ...caller })
  )

  mountAdminEndpoint(app, addGroupCategory, (deps, { groupId: group_id, ...input }) =>
    groups.addGroupCategory(deps, { group_id, ...input })
  )

  mountAdminEndpoint(app, removeGroupCategory, (deps, { groupId, categoryId, ...caller }) =>
    groups.removeGroupCategory(deps, { group_id: groupId, category_id: categoryId, ...caller })
  )
}
