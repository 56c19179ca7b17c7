import { type Selectable, sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { selectById, selectInCompany } from '../../db/company-queries.ts'
import type { Database } from '../../db/schema.ts'
import type { Tx } from '../../db/scope.ts'
import type { AdminCall } from '../audit/audit-entries.ts'

/** The domain that an administrator changes, its company, and the administrator. */
export interface DomainCall extends AdminCall {
  id: string
}

export type DomainRow = Selectable<Database['domain']>

/**
 * Locks the row of a domain until the transaction ends, and returns it. Throws `not_found` if the
 * company has no such domain.
 */
export async function lockDomainRow(tx: Tx, id: string): Promise<DomainRow> {
  const row = await selectById(tx, 'domain', id).selectAll().forUpdate().executeTakeFirst()
  if (!row) throw domainNotFoundError()
  return row
}

/**
 * Returns whether the company has proved that it owns at least one host. This includes hosts that
 * are no longer served because their DNS record has been missing.
 */
export async function hasProvedHost(tx: Tx): Promise<boolean> {
  const found = await selectInCompany(tx, 'domain')
    .where(on => on.or([on('verified_at', 'is not', null), on('quarantined_at', 'is not', null)]))
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Returns whether any company has proved that it owns the host. */
export async function isHostProvedByAnyCompany(tx: Tx, host: string): Promise<boolean> {
  const { rows } = await sql<{ answer: boolean }>`
    select is_proved_host(${host}) as answer`.execute(tx)
  return rows[0]?.answer === true
}

/**
 * Returns the error `host_taken` for a host that cannot be claimed. One of these is true:
 * - A company has proved that it owns the host.
 * - The same company has claimed the host already.
 * - The claim is for a new company, and a company with the same name has claimed the host already.
 */
export function hostTakenError(cause?: unknown): AppError {
  return new AppError('host_taken', 'The host is proved by a company or claimed already', { cause })
}

/** Returns the error for a domain that the company does not have. */
export function domainNotFoundError(): AppError {
  return new AppError('not_found', 'No such domain')
}
