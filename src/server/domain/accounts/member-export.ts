import type { Member } from '../../../contract/members.ts'
import { exportCsv } from '../csv-export.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type MemberFilter, readMembers, readNextMemberIdsAndStates } from './members.ts'

export function exportMembers(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, ...filter }: MemberFilter & { company_id: CompanyId }
): AsyncGenerator<string, void, void> {
  return exportCsv(deps, {
    company_id,
    columns,
    async readPage(tx, { limit, cursor }) {
      const { people, next } = await readNextMemberIdsAndStates(tx, deps, { filter, cursor }, limit)
      return { items: await readMembers(tx, people), next }
    },
    toRows: members => members
  })
}

const columns: Record<string, (member: Member) => string | undefined> = {
  id: ({ id }) => id,
  email: ({ email }) => email,
  username: ({ username }) => username,
  locale: ({ locale }) => locale,
  groups: ({ groups }) => groups.map(({ name }) => name).join('; '),
  state: ({ state }) => state,
  disabled_reason: ({ disabled }) => disabled?.reason,
  disabled_since: ({ disabled }) => disabled?.since,
  permissions: ({ permissions }) => permissions.join('; '),
  created: ({ created }) => created,
  last_seen: ({ last_seen }) => last_seen ?? undefined
}
