import type * as z from 'zod/mini'
import {
  changeUsers,
  createInvitationLinks,
  deleteMember,
  disableUser,
  enableUser,
  exportUsers,
  getMember,
  getUserUsage,
  listUserSessions,
  listUsers,
  resendInvitation,
  resendVerifyLink,
  setPermissions,
  signOutUser,
  updateMember
} from '../../contract/members.ts'
import * as bulkChanges from '../domain/accounts/bulk-changes.ts'
import { createInvitationLinks as createLinks } from '../domain/accounts/invitation-links.ts'
import * as invitations from '../domain/accounts/invitations.ts'
import * as changes from '../domain/accounts/member-changes.ts'
import type { MemberFilter } from '../domain/accounts/members.ts'
import * as members from '../domain/accounts/members.ts'
import * as signUps from '../domain/accounts/signups.ts'
import {
  administeredCompanyAsMailSender,
  administeredCompanyId,
  administeredTenant
} from './kit/administered-company.ts'
import { requirePasswordConfirmation } from './kit/admission.ts'
import { type Api, type ApiContext, authenticatedCaller } from './kit/context.ts'
import { csvDownload } from './kit/csv-downloads.ts'
import { mountEndpoint, mountIdempotent, mountList, mountNonJsonEndpoint } from './kit/mount.ts'
import { mountAdminEndpoint } from './kit/mount-admin.ts'
import { invalidFieldError } from './kit/refused-fields.ts'
import { canonicalizeEmail } from './users.ts'

export function mountMembers(app: Api): void {
  mountList(app, listUsers, ({ id: _, email, ...page }, c) =>
    members.listUsers(c.get('deps'), {
      company_id: administeredCompanyId(c),
      ...page,
      email: email === undefined ? undefined : canonicalizeEmail(email)
    })
  )

  mountNonJsonEndpoint(app, exportUsers, ({ id: _, ...filter }, c) => {
    const texts = members.exportMembers(c.get('deps'), {
      company_id: administeredCompanyId(c),
      ...filter
    })
    return csvDownload(c, 'people', texts)
  })

  mountAdminEndpoint(app, getMember, members.getMember)
  mountAdminEndpoint(app, updateMember, changes.updateMember)
  mountAdminEndpoint(app, setPermissions, changes.setPermissions)
  mountAdminEndpoint(app, disableUser, changes.disableUser)
  mountAdminEndpoint(app, enableUser, changes.enableUser)
  mountAdminEndpoint(app, signOutUser, changes.signOutUser)
  mountAdminEndpoint(app, listUserSessions, members.listUserSessions)
  mountAdminEndpoint(app, getUserUsage, members.getUserUsage)

  mountEndpoint(app, deleteMember, async ({ id }, c) =>
    changes.deleteMember(c.get('deps'), {
      sender: await administeredCompanyAsMailSender(c, false),
      by: authenticatedCaller(c),
      id,
      version: c.get('expectedVersion')
    })
  )

  mountEndpoint(app, resendInvitation, async ({ id }, c) =>
    invitations.resendInvitation(c.get('deps'), { ...(await tenantAndCaller(c)), id })
  )

  mountEndpoint(app, resendVerifyLink, async ({ id }, c) =>
    signUps.resendVerifyLink(c.get('deps'), { ...(await tenantAndCaller(c)), id })
  )

  mountIdempotent(app, changeUsers, async (input, c, idempotencyKey) => {
    if (input.action === 'delete' && !input.dry_run) {
      requirePasswordConfirmation(authenticatedCaller(c), { ...changeUsers, confirmation: true })
    }
    const change = changeOf(input)
    const people = peopleOf(input)
    const sender = await administeredCompanyAsMailSender(
      c,
      input.action === 'invite' && !input.dry_run
    )
    const call = { sender, by: authenticatedCaller(c), people }
    return input.dry_run
      ? { body: await bulkChanges.countSelectedPeople(c.get('deps'), call), replayed: false }
      : bulkChanges.changeUsers(c.get('deps'), { ...call, change, idempotencyKey })
  })

  mountEndpoint(app, createInvitationLinks, async (input, c) =>
    createLinks(c.get('deps'), { ...(await tenantAndCaller(c)), people: peopleOf(input) })
  )
}

async function tenantAndCaller(c: ApiContext) {
  return { tenant: await administeredTenant(c), by: authenticatedCaller(c) }
}

type BulkInput = z.output<typeof changeUsers.input>

function changeOf({ action, group_id, reason }: BulkInput): bulkChanges.BulkChange {
  const movesGroup = action === 'add_to_group' || action === 'remove_from_group'
  if (!movesGroup && group_id !== undefined) throw notWith('group_id', action)
  if (action !== 'disable' && reason !== undefined) throw notWith('reason', action)
  if (movesGroup) {
    if (group_id === undefined) throw needed('group_id', action)
    return { action, group_id }
  }
  if (action !== 'disable') return { action }
  if (reason === undefined) throw needed('reason', action)
  return { action, reason }
}

function peopleOf({
  ids,
  filter,
  cursor
}: Pick<BulkInput, 'ids' | 'cursor'> & {
  filter?: MemberFilter | undefined
}): bulkChanges.BulkSelection {
  if (!ids && !filter) throw needed('filter', 'a call without ids')
  if (!ids) return { filter: filter ?? {}, cursor }
  if (filter) throw notWith('filter', 'ids')
  if (cursor !== undefined) throw notWith('cursor', 'ids')
  return { ids }
}

function needed(field: string, by: string) {
  return invalidFieldError(field, { rule: 'required', detail: `needed by ${by}` })
}

function notWith(field: string, other: string) {
  return invalidFieldError(field, { rule: 'unknown', detail: `not together with ${other}` })
}
