import { type Selectable, sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { selectById, selectInCompany } from '../../db/company-queries.ts'
import type { Database } from '../../db/schema.ts'
import type { Tx } from '../../db/scope.ts'
import type { AdminCall } from '../audit/audit-entries.ts'

export interface DomainCall extends AdminCall {
  id: string
}

export type DomainRow = Selectable<Database['domain']>

/** Throws `not_found` if the company has no such domain. */
export async function lockDomainRow(tx: Tx, id: string): Promise<DomainRow> {
  const row = await selectById(tx, 'domain', id).selectAll().forUpdate().executeTakeFirst()
  if (!row) throw domainNotFoundError()
  return row
}

/** Also true for a host that is no longer served because its record has been missing. */
export async function hasProvedHost(tx: Tx): Promise<boolean> {
  const found = await selectInCompany(tx, 'domain')
    .where(on => on.or([on('verified_at', 'is not', null), on('quarantined_at', 'is not', null)]))
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export async function isHostProvedByAnyCompany(tx: Tx, host: string): Promise<boolean> {
  const { rows } = await sql<{ answer: boolean }>`
    select is_proved_host(${host}) as answer`.execute(tx)
  return rows[0]?.answer === true
}

export function hostTakenError(cause?: unknown): AppError {
  return new AppError('host_taken', 'The host is proved by a company or claimed already', { cause })
}

export function domainNotFoundError(): AppError {
  return new AppError('not_found', 'No such domain')
}
