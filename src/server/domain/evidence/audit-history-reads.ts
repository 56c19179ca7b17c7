import { sql } from 'kysely'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { audit } from './audit.ts'

const action = 'company.read_history'
/** An entry stands for all further reads by the same person in this many milliseconds. */
const entryMs = 10 * 60_000

interface Reading {
  /** The company whose history is read. */
  company_id: CompanyId
  /** The administrator who reads it. */
  by: { id: string; company_id: CompanyId }
}

/**
 * Writes an entry to the audit log which says that an administrator reads the history of the whole
 * company. One entry stands for all reads of a person within ten minutes, even for parallel ones.
 */
export async function auditHistoryRead(
  deps: Pick<Deps, 'db' | 'clock' | 'random'>,
  { company_id, by }: Reading
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    if (await isEntered(tx, deps, by.id)) return
    // parallel reads of the person enter one after the other; no row is locked, because an
    // operator's row is in another company, and a long import may hold the company's
    const place = JSON.stringify([action, company_id, by.id])
    await sql`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`.execute(tx)
    if (!(await isEntered(tx, deps, by.id))) audit(tx, deps, { by, action, target: company_id })
  })
}

async function isEntered(tx: Tx, deps: Pick<Deps, 'clock'>, actor: string): Promise<boolean> {
  const found = await tx
    .selectFrom('audit_entry')
    .where('company_id', '=', tx.companyId)
    .where('actor_id', '=', actor)
    .where('action', '=', action)
    .where('created_at', '>', new Date(deps.clock().getTime() - entryMs))
    .select('seq')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
