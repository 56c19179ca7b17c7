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

/**
 * The company that an administrator changes, and the administrator. An operator may change a
 * company other than their own.
 */
export interface AdminCall {
  company_id: CompanyId
  by: { id: string; company_id: CompanyId }
}

/** The dependencies of a function that makes a change and adds it to the audit log. */
export type AuditDeps = Pick<Deps, 'db' | 'clock' | 'random'>

interface AuditedChange {
  by: { id: string; company_id: CompanyId }
  /** The company that was changed. If absent, it is the transaction's company. */
  company?: CompanyId
  action: AuditAction
  /** The id of the changed object. The first word of `action` says which kind of object it is. */
  target: string
  /**
   * The fields of the changed object before the change. The log stores only the fields that differ
   * from those in `after`. Values are plain JSON without negative numbers. `null` and `undefined`
   * both mean that a field has no value.
   */
  before?: object
  /** The fields of the changed object after the change, in the same form as `before`. */
  after?: object
  /**
   * The id of the person whom the changed fields concern. When this person is deleted, the fields
   * are erased from the log. If `concerns` is absent and the changed object is a person, the fields
   * concern that person. If it is absent and the object is not a person, or if it is `null`,
   * the fields are never erased.
   */
  concerns?: string | null
}

/**
 * Records a change in the audit log of the changed company. Records nothing if `before` and `after`
 * are given and equal. If the actor belongs to another company, also adds an entry without the
 * changed fields to the log of the actor's company. The entries are written at the end of the
 * transaction, by `finishWithLogs` or by `inCompany`. After a call of `finishWithLogs` this throws,
 * because a transaction must lock the audit log before the evidence log.
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

/** Returns the actor of entries in the log of a company about what the service has done by itself. */
export function serviceActor(company_id: CompanyId): AuditedChange['by'] {
  return { id: serviceActorId, company_id }
}

interface LogEntry {
  /** The company in whose log the entry is made. */
  company: CompanyId
  /** The company that was changed. */
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
 * Records which permissions a person has been given or has lost. The entry keeps its fields when the
 * person is deleted, because they say nothing about the person but who was an administrator.
 */
export function addPermissionsEntry(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  change: Omit<AuditedChange, 'action' | 'concerns'>
): void {
  addAuditEntry(tx, deps, { ...change, action: 'user.permissions', concerns: null })
}

/**
 * Erases from the company's audit log the changed fields that concern the people with these ids.
 * The entries and their hashes stay, so the log can still be verified.
 */
export async function eraseAuditValuesOfPeople(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`select erase_audit_values(id) from unnest(${ids}::uuid[]) as person (id)`.execute(tx)
}
