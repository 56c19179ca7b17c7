import { AppError } from '../../../contract/kit/errors.ts'
import type { InvitationLinks } from '../../../contract/members.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { Deps, Tenant } from '../deps.ts'
import { audit } from '../evidence/audit.ts'
import { readImport } from '../imports/imports.ts'
import type { Person } from '../sessions/sessions.ts'
import { type BulkPeople, nextIds } from './bulk-changes.ts'
import { createLinksToPassOn, requireInvitable } from './invitations.ts'
import { type LockedMember, type LockedMembers, lockMembers } from './locked-members.ts'

/**
 * Creates invitation links for the next 200 people, for the administrator to pass on. Leaves out
 * people who need no link or whom the caller may not change. Throws `forbidden` if a mail server is
 * configured.
 */
export async function createInvitationLinks(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'settings'>,
  { tenant, by, people }: { tenant: Tenant; by: Person; people: BulkPeople }
): Promise<InvitationLinks> {
  if (deps.settings.mailServer) {
    throw new AppError('forbidden', 'The service has a mail server, which mails the links')
  }
  return inCompany(deps.db, tenant.company_id, async tx => {
    const { ids, next } = await nextIds(tx, deps, await narrowed(tx, people))
    const members = await lockMembers(tx, deps, { by, ids })
    const invited = ids.flatMap(id => invitable(members, id))
    const { links, until } = await createLinksToPassOn(tx, deps, tenant, invited)
    for (const { id } of invited) {
      audit(tx, deps, { by, action: 'user.invitation_link', target: id })
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

/**
 * Returns the people without those whom a filter need not find, because they are not invited.
 * Throws `not_found` if the company has no such import.
 */
async function narrowed(tx: Tx, people: BulkPeople): Promise<BulkPeople> {
  if ('ids' in people) return people
  const { filter } = people
  if (filter.import !== undefined) await readImport(tx, filter.import)
  return { ...people, filter: { state: 'invited', ...filter } }
}

/** Returns a list with the person, or an empty list for somebody who can get no invitation. */
function invitable(members: LockedMembers, id: string): LockedMember[] {
  try {
    const member = members.get(id)
    requireInvitable(member)
    return [member]
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}
