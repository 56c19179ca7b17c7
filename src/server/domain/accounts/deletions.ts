import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { deleteInCompany, selectInCompany, updateInCompany } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import { addAuditEntry, eraseAuditValuesOfPeople } from '../audit/audit-entries.ts'
import type { Deps, SendingCompany } from '../deps.ts'
import { queueMails } from '../mail/mail-queue.ts'
import { type AuthenticatedCaller, signalSessionChanges } from '../sessions/sessions.ts'
import { inCompanyWithPassword, type PasswordCheckDeps, type PasswordProof } from './user-keys.ts'

export async function deleteOwnAccount(
  deps: PasswordCheckDeps & Pick<Deps, 'random' | 'signals'>,
  input: PasswordProof & { company?: string | undefined }
): Promise<void> {
  const { tenant, person } = input
  const { id } = person
  await inCompanyWithPassword(deps, input, 'rekey', async (tx, { email, locale }) => {
    if (person.permissions.includes('operator')) await keepAnOperator(tx, id)
    else if (person.permissions.includes('admin')) await requireNameOfCompanyLeft(tx, id, input)
    await eraseUsers(tx, deps, { sender: tenant, by: person, people: [{ id, email, locale }] })
  })
}

interface Erasure {
  sender: SendingCompany
  by: AuthenticatedCaller
  people: readonly { id: string; email: string; locale: string }[]
}

// Keeps the accounts' rows and the deposits, because the history refers to their ids. The caller
// must have locked the rows of these people.
export async function eraseUsers(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'signals'>,
  { sender, by, people }: Erasure
): Promise<void> {
  const ids = people.map(({ id }) => id)
  const emails = people.map(({ email }) => email)
  await eraseRows(tx, { ids, emails })
  await eraseAuditValuesOfPeople(tx, ids)
  const now = deps.clock()
  await updateInCompany(tx, 'user')
    .set({
      // not a usable address, so the e-mail is free for a new sign-up
      email: sql<string>`id || '@deleted.invalid'`,
      username: '–',
      locale: 'und',
      permissions: sql<string[]>`'{}'`,
      disabled: null,
      invited_at: null,
      last_seen_at: sql<Date>`'-infinity'`,
      tokens_valid_after: now,
      deleted_at: now
    })
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .execute()
  const mails = people.map(({ email, locale }) => {
    return { kind: 'account_deleted' as const, email, locale }
  })
  await queueMails(tx, deps, sender, mails)
  for (const id of ids) addAuditEntry(tx, deps, { by, action: 'user.delete', target: id })
  signalSessionChanges(tx, deps, ids)
}

async function keepAnOperator(tx: Tx, user_id: string): Promise<void> {
  if (await isOnlyOneWith(tx, ['operator'], user_id)) {
    throw new AppError('last_operator', 'The installation needs another operator first')
  }
}

async function requireNameOfCompanyLeft(
  tx: Tx,
  user_id: string,
  { company = '' }: { company?: string | undefined }
): Promise<void> {
  if (!(await isOnlyOneWith(tx, ['admin', 'operator'], user_id))) return
  const { name } = await tx
    .selectFrom('company')
    .where('id', '=', tx.companyId)
    .select('name')
    .executeTakeFirstOrThrow()
  if (company.trim().toLowerCase() === name.toLowerCase()) return
  throw new AppError('last_administrator', 'Nobody else administers the company: send its name')
}

async function isOnlyOneWith(tx: Tx, permissions: string[], user_id: string): Promise<boolean> {
  const people = await selectInCompany(tx, 'user')
    .where(sql<boolean>`permissions && ${permissions}::text[]`)
    // people who were invited or disabled cannot sign in
    .where('state', '=', 'active')
    .select('id')
    // in one order, so that fewer calls block each other: each one already holds its caller's row
    .orderBy('id')
    // if two people delete their accounts at the same time, the second call waits here and then
    // finds only itself
    .forNoKeyUpdate()
    .execute()
  return people.every(({ id }) => id === user_id)
}

async function eraseRows(
  tx: Tx,
  { ids, emails }: { ids: readonly string[]; emails: readonly string[] }
): Promise<void> {
  const isOf = (column: string) => sql<boolean>`${sql.ref(column)} = any (${ids}::uuid[])`
  const isTo = sql<boolean>`email = any (${emails}::text[])`
  const own = ['user_key', 'session', 'api_key', 'group_user', 'email_change'] as const
  for (const table of own) {
    await deleteInCompany(tx, table).where(isOf('user_id')).execute()
  }
  await deleteInCompany(tx, 'mail_token').where(isOf('subject')).execute()
  await deleteInCompany(tx, 'mail').where(isTo).execute()
  await deleteInCompany(tx, 'import_row')
    .where(row => row.or([isTo, isOf('user_id')]))
    .execute()
  await deleteInCompany(tx, 'idempotency').where(isOf('actor')).execute()
}
