import { sql } from 'kysely'
import { AppError } from '../../../contract/errors.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { audit, eraseAuditValues } from '../evidence/audit.ts'
import { queueMail } from '../mail/mail-queue.ts'
import type { Person } from '../sessions/sessions.ts'
import { requirePassword } from './user-keys.ts'

interface Deletion {
  tenant: Tenant
  person: Person
  challenge_response: string
}

/**
 * Deletes the personal data of an account: e-mail, username, keys, sessions, group memberships and
 * mailed links. The row of the person stays without these data, because deposits and the history
 * refer to its id. The person's deposits stay in the register.
 */
export async function deleteUser(
  deps: Pick<
    Deps,
    'db' | 'keys' | 'clock' | 'random' | 'settings' | 'log' | 'signals' | 'counters'
  >,
  input: Deletion
): Promise<void> {
  const { tenant, person } = input
  const { company_id, id: user_id } = person
  await inCompany(deps.db, company_id, async tx => {
    const { email, locale } = await requirePassword(tx, deps, input)
    if (person.permissions.includes('operator')) await keepAnOperator(tx, company_id, user_id)
    await eraseRows(tx, company_id, user_id, email)
    await eraseAuditValues(tx, user_id)
    const now = deps.clock()
    await tx
      .updateTable('user')
      .set({
        // not a usable address, so the e-mail is free for a new sign-up
        email: `${user_id}@deleted.invalid`,
        username: '–',
        locale: 'und',
        permissions: sql<string[]>`'{}'`,
        disabled: null,
        invited_at: null,
        tokens_valid_after: now,
        deleted_at: now
      })
      .where('company_id', '=', company_id)
      .where('id', '=', user_id)
      .execute()
    await queueMail(tx, deps, { tenant, kind: 'account_deleted', email, locale })
    audit(tx, deps, { by: person, action: 'user.delete', target: user_id })
    tx.afterCommit(() => deps.signals.sessions.send({ company: company_id, user: user_id }))
  })
}

/** Throws `last_operator` if the person is the company's only enabled operator. */
async function keepAnOperator(tx: Tx, company_id: CompanyId, user_id: string): Promise<void> {
  const operators = await tx
    .selectFrom('user')
    .where('company_id', '=', company_id)
    .where(sql<boolean>`permissions @> array['operator']`)
    .where('disabled', 'is', null)
    .select('id')
    // if two operators delete their accounts at the same time, the second call waits here and then
    // finds only itself
    .forNoKeyUpdate()
    .execute()
  if (operators.every(({ id }) => id === user_id)) {
    throw new AppError('last_operator', 'The installation needs another operator first')
  }
}

async function eraseRows(
  tx: Tx,
  company_id: CompanyId,
  user_id: string,
  email: string
): Promise<void> {
  const own = ['user_key', 'session', 'group_user', 'email_change'] as const
  for (const table of own) {
    await tx
      .deleteFrom(table)
      .where('company_id', '=', company_id)
      .where('user_id', '=', user_id)
      .execute()
  }
  await tx
    .deleteFrom('mail_token')
    .where('company_id', '=', company_id)
    .where('subject', '=', user_id)
    .execute()
  await tx
    .deleteFrom('mail')
    .where('company_id', '=', company_id)
    .where('email', '=', email)
    .execute()
  await tx
    .deleteFrom('idempotency')
    .where('company_id', '=', company_id)
    .where('actor', '=', user_id)
    .execute()
}
