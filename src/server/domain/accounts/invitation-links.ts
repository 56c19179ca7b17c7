import { AppError } from '../../../contract/kit/errors.ts'
import type { InvitationLinks } from '../../../contract/members.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import type { Deps, Tenant } from '../deps.ts'
import { readImport } from '../imports/imports.ts'
import type { AuthenticatedCaller } from '../sessions/sessions.ts'
import { type BulkSelection, readNextPeopleIds } from './bulk-changes.ts'
import { createLinksToPassOn, requireInvitable } from './invitations.ts'
import {
  lockMemberRows,
  type MembersWithLockedRows,
  type MemberWithLockedRow
} from './member-row-locks.ts'

/**
 * Leaves out everybody who is not invited or whom the caller may not change. Throws `forbidden` if
 * a mail server is configured, because the service then mails the links itself.
 */
export async function createInvitationLinks(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'settings'>,
  { tenant, by, people }: { tenant: Tenant; by: AuthenticatedCaller; people: BulkSelection }
): Promise<InvitationLinks> {
  if (deps.settings.mailServer) {
    throw new AppError('forbidden', 'The service has a mail server, which mails the links')
  }
  return inCompany(deps.db, tenant.company_id, async tx => {
    const { ids, next } = await readNextPeopleIds(tx, deps, await narrowed(tx, people))
    const members = await lockMemberRows(tx, deps, { by, ids })
    const invited = ids.flatMap(id => invitable(members, id))
    const { links, until } = await createLinksToPassOn(tx, deps, tenant, invited)
    for (const { id } of invited) {
      addAuditEntry(tx, deps, { by, action: 'user.invitation_link', target: id })
    }
    return {
      links: invited.map(({ id, username, email }, at) => ({
        id,
        username,
        email,
        link: links[at] ?? ''
      })),
      until: until.toISOString(),
      next
    }
  })
}

async function narrowed(tx: Tx, people: BulkSelection): Promise<BulkSelection> {
  if ('ids' in people) return people
  const { filter } = people
  if (filter.import !== undefined) await readImport(tx, filter.import)
  return { ...people, filter: { state: 'invited', ...filter } }
}

function invitable(members: MembersWithLockedRows, id: string): MemberWithLockedRow[] {
  try {
    const member = members.get(id)
    requireInvitable(member)
    return [member]
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}
