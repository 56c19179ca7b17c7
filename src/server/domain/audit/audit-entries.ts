import { sql } from 'kysely'
import { type AuditAction, serviceActorId } from '../../../contract/audit.ts'
import {
  auditHashPrefix,
  canonicalizeAuditEntry,
  canonicalizeFieldChanges,
  createChangesCommitment,
  initialPreviousHash
} from '../../../core/evidence/audit-entry.ts'
import type { Statement, Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { newId } from '../ids.ts'

/** An operator may change a company other than their own. */
export interface AdminCall {
  company_id: CompanyId
  by: { id: string; company_id: CompanyId }
}

export type AuditDeps = Pick<Deps, 'db' | 'clock' | 'random'>

interface AuditedChange {
  by: { id: string; company_id: CompanyId }
  // by default the transaction's
  company?: CompanyId
  action: AuditAction
  // the first word of `action` says of which kind it is
  target: string
  // Only fields that differ are stored. Values are plain JSON without negative numbers; `null` and
  // `undefined` both mean no value.
  before?: object
  after?: object
  // the person with whose deletion the fields are erased, by default the changed person; `null` for
  // never
  concerns?: string | null
}

/**
 * Records nothing if `before` and `after` are equal. A change by an actor of another company also
 * enters that company's log, without the fields. Entries are written at the end of the transaction;
 * after `finishWithLogs` this throws, because the audit log is locked before the evidence log.
 */
export function addAuditEntry(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  change: AuditedChange
): void {
  const changes = canonicalizeFieldChanges(change.before ?? {}, change.after ?? {})
  if (changes === undefined && change.before && change.after) return
  const { company: acted_in = tx.companyId } = change
  enter(tx, deps, change, { company: acted_in, acted_in, changes })
  const own = change.by.company_id
  if (own !== acted_in) enter(tx, deps, change, { company: own, acted_in, changes: undefined })
}

/** For what the service has done by itself. */
export function serviceActor(company_id: CompanyId): AuditedChange['by'] {
  return { id: serviceActorId, company_id }
}

interface LogEntry {
  // in whose log the entry is made
  company: CompanyId
  acted_in: CompanyId
  changes: string | undefined
}

function enter(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  { by, action, ...change }: AuditedChange,
  { company, acted_in, changes }: LogEntry
): void {
  // as the database stores it: the check computes the hash from what is stored
  const target = change.target.toLowerCase()
  const id = newId(deps)
  const at = deps.clock()
  const salt = Buffer.from(deps.random(32))
  const commitment =
    changes === undefined
      ? {}
      : { changes: createChangesCommitment({ company, id }, salt, changes) }
  const actor = { id: by.id, company: by.company_id }
  const entry = { company, id, at: at.getTime(), actor, acted_in, action, target, ...commitment }
  const statement: Statement = {
    text: auditSql,
    values: [
      company,
      Buffer.from(auditHashPrefix),
      Buffer.from(initialPreviousHash),
      Buffer.from(canonicalizeAuditEntry(entry)),
      ...[id, at, by.id, by.company_id, acted_in, action, target],
      commitment.changes ?? null,
      change.concerns === undefined && action.startsWith('user.')
        ? target
        : (change.concerns ?? null),
      salt,
      changes ?? null
    ]
  }
  tx.addAuditEntry(company, statement)
}

// computes the hash as auditHash() does; in SQL it needs no further round trip while the head is
// locked
const auditSql = `
  with head as (
    insert into audit_head as head (company_id, seq, hash)
    values ($1, 1, sha256($2::bytea || $3::bytea || int8send(1::bigint) || $4::bytea))
    on conflict (company_id) do update
      set seq = head.seq + 1, hash = sha256($2::bytea || head.hash || int8send(head.seq + 1) || $4::bytea)
    returning head.seq, head.hash
  ), entry as (
    insert into audit_entry (
      company_id, seq, hash, id, created_at, actor_id, actor_company_id, acted_in, action, target_id, changes
    )
    select $1, seq, hash, $5, $6, $7, $8, $9, $10, $11, $12 from head
    returning seq
  )
  insert into audit_value (company_id, seq, person_id, salt, changes)
  select $1, seq, $13, $14, $15 from entry where $15::text is not null`

/**
 * The entry keeps its fields when the person is deleted, because they only say who was an
 * administrator.
 */
export function addPermissionsEntry(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  change: Omit<AuditedChange, 'action' | 'concerns'>
): void {
  addAuditEntry(tx, deps, { ...change, action: 'user.permissions', concerns: null })
}

/** The entries and their hashes stay, so the log can still be verified. */
export async function eraseAuditValuesOfPeople(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`select erase_audit_values(id) from unnest(${ids}::uuid[]) as person (id)`.execute(tx)
}
