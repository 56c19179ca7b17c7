import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import type { DisabledMark } from '../../db/schema.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import type { AuthenticatedCaller } from '../sessions/sessions.ts'

export interface MemberWithLockedRow {
  id: string
  version: number
  username: string
  email: string
  locale: string
  state: 'invited' | 'active' | 'disabled'
  disabled: DisabledMark | null
  permissions: string[]
}

export interface MembersWithLockedRows {
  isOperator: boolean
  /**
   * Throws `not_found`, `email_unconfirmed` for a sign-up that waits for confirmation, and
   * `forbidden` for an operator if the caller is none.
   */
  get(id: string): MemberWithLockedRow
  /** Returns whether `id` belongs to a sign-up that waits for confirmation. */
  isWaiting(id: string): boolean
}

// Also locks the caller's own row, and all in the order of their ids, so that two administrators
// who change each other cannot deadlock. Throws `forbidden` if the caller has been disabled or has
// lost all permissions since the start of the call.
export async function lockMemberRows(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { by, ids }: { by: AuthenticatedCaller; ids: readonly string[] }
): Promise<MembersWithLockedRows> {
  const rows = await selectInCompany(tx, 'user')
    .where(sql<boolean>`id = any (${[...ids, by.id]}::uuid[])`)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .select(['id', 'version', 'username', 'email', 'locale', 'state', 'disabled', 'permissions'])
    .forNoKeyUpdate()
    .execute()
  const members = new Map(rows.map(row => [row.id, row]))
  const caller = members.get(by.id)
  // the row of an operator of another company is not visible here
  const permissions = by.company_id === tx.companyId ? caller?.permissions : by.permissions
  if (caller?.disabled || !permissions?.length) {
    throw new AppError('forbidden', 'The permission of the caller was taken away')
  }
  const isOperator = permissions.includes('operator')
  const missing = ids.filter(id => !members.has(id))
  const waiting = new Set(missing.length > 0 ? await findWaiting(tx, deps, missing) : [])
  return {
    isOperator,
    get(id) {
      const member = members.get(id)
      if (waiting.has(id)) throw new AppError('email_unconfirmed', 'A sign-up that waits')
      if (!member) throw new AppError('not_found', 'No such person')
      if (member.permissions.includes('operator') && !isOperator) {
        throw new AppError('forbidden', 'Only operators change operators')
      }
      return member
    },
    isWaiting: id => waiting.has(id)
  }
}

export async function lockMemberRow(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { by, id }: { by: AuthenticatedCaller; id: string }
): Promise<MemberWithLockedRow> {
  return (await lockMemberRows(tx, deps, { by, ids: [id] })).get(id)
}

async function findWaiting(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  ids: readonly string[]
): Promise<string[]> {
  const rows = await selectInCompany(tx, 'signup')
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .where(waitingSignUpCondition(deps))
    .select('id')
    .execute()
  return rows.map(({ id }) => id)
}

// not expired, and without an account that has the same e-mail
export function waitingSignUpCondition({ clock }: Pick<Deps, 'clock'>) {
  return sql<boolean>`signup.expires_at > ${clock()}::timestamptz and not exists (
    select from "user" where "user".company_id = signup.company_id and "user".email = signup.email
    -- looked up row by row: a join would read all people for the first page of a list
    offset 0
  )`
}
