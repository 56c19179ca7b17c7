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
import { administeredCompany, callerAndCompany } from './kit/administered-company.ts'
import { parseIdempotencyKey } from './kit/admission.ts'
import type { Api } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'

export function mountGroups(app: Api): void {
  mountList(app, listGroups, ({ id: _, ...page }, c) =>
    groups.listGroups(c.get('deps'), { company_id: administeredCompany(c), ...page })
  )

  mountEndpoint(app, createGroup, async (settings, c) => {
    const key = parseIdempotencyKey(c.req.header('idempotency-key'))
    const { body, replayed } = await groups.createGroup(c.get('deps'), {
      ...callerAndCompany(c),
      ...settings,
      idempotencyKey: key
    })
    if (replayed) c.header('idempotent-replayed', 'true')
    return body
  })

  mountEndpoint(app, getGroup, ({ id }, c) =>
    groups.getGroup(c.get('deps'), { company_id: administeredCompany(c), id })
  )

  mountEndpoint(app, updateGroup, (input, c) =>
    groups.updateGroup(c.get('deps'), {
      ...callerAndCompany(c),
      ...input,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, deleteGroup, ({ id }, c) =>
    groups.deleteGroup(c.get('deps'), {
      ...callerAndCompany(c),
      id,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, addGroupUser, ({ groupId, user_id }, c) =>
    members.addUser(c.get('deps'), { ...callerAndCompany(c), group_id: groupId, user_id })
  )

  mountEndpoint(app, removeGroupUser, ({ groupId, userId }, c) =>
    members.removeUser(c.get('deps'), {
      ...callerAndCompany(c),
      group_id: groupId,
      user_id: userId
    })
  )

  mountEndpoint(app, addGroupCategory, ({ groupId, category_id }, c) =>
    groups.addCategory(c.get('deps'), { ...callerAndCompany(c), group_id: groupId, category_id })
  )

  mountEndpoint(app, removeGroupCategory, ({ groupId, categoryId }, c) =>
    groups.removeCategory(c.get('deps'), {
      ...callerAndCompany(c),
      group_id: groupId,
      category_id: categoryId
    })
  )
}
