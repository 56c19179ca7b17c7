import type { Member } from '../../../contract/members.ts'
import { byteOrderMark, csvRecord } from '../../../core/csv/cells.ts'
import { type ConnectionOptions, inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type MemberFilter, nextMembers, readMembers } from './members.ts'

/**
 * How many people an export reads at a time: fewer while other companies are active, so that their
 * calls hardly wait.
 */
const exportPage = { alone: 200, whenContended: 50 }
/**
 * How long an export waits for a database connection for its next page, in milliseconds. Then the
 * download breaks off.
 */
const nextPageMs = 120_000

/**
 * Yields the people who match the filter as chunks of CSV text, in the order of their ids. Reads
 * the next page only when the client takes more, so a slow client uses neither memory nor a long
 * transaction.
 */
export async function* exportMembers(
  deps: Pick<Deps, 'db' | 'clock'>,
  {
    company_id,
    caller,
    ...filter
  }: MemberFilter & Pick<ConnectionOptions, 'caller'> & { company_id: CompanyId }
): AsyncGenerator<string, void, void> {
  let cursor: string | undefined
  const read = async (tx: Tx) => {
    const limit = tx.isContended ? exportPage.whenContended : exportPage.alone
    const { people, next } = await nextMembers(tx, deps, { filter, cursor }, limit)
    return { members: await readMembers(tx, people), next }
  }
  do {
    const { members, next } = await inCompany(deps.db, company_id, read, {
      isHeavy: true,
      caller,
      ...(cursor === undefined ? {} : { waitMs: nextPageMs })
    })
    const head = cursor === undefined ? byteOrderMark + csvRecord(Object.keys(columns)) : ''
    const records = members.map(member => Object.values(columns).map(cell => cell(member)))
    yield head + records.map(csvRecord).join('')
    cursor = next ?? undefined
  } while (cursor !== undefined)
}

/** The columns of the CSV file, each with the function that returns its value. */
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
