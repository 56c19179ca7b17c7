import { type Selectable, sql } from 'kysely'
import { toHex } from '../../../core/bytes.ts'
import {
  auditHash,
  canonicalizeAuditEntry,
  createChangesCommitment,
  initialPreviousHash
} from '../../../core/evidence/audit-entry.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

/** The number and the hash (hex) of a log's last entry. */
export interface AuditHead {
  seq: number
  hash: string
}

export interface AuditCheckReport {
  entries: number
  // their changed fields were erased when the person whom they concern was deleted
  erased: number
  // absent for an empty log
  head?: AuditHead
  // the first wrong entry
  broken?: { seq: number; reason: string }
}

const pageSize = 500

/**
 * Recomputes all hashes, oldest first. `expected` is an earlier end of the log that somebody wrote
 * down.
 */
export async function checkAuditLog(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId,
  expected?: AuditHead
): Promise<AuditCheckReport> {
  const { head, newest } = await inCompany(deps.db, company_id, tx => readEnds(tx, company_id))
  const found: AuditCheckReport = { entries: 0, erased: 0 }
  let hash = initialPreviousHash
  while (found.entries < newest) {
    const page = await inCompany(deps.db, company_id, tx =>
      readPage(tx, { company_id, after: found.entries, upTo: newest })
    )
    for (const entry of page) {
      const seq = found.entries + 1
      if (entry.seq !== seq) return { ...found, broken: { seq, reason: 'it is missing' } }
      hash = auditHash(hash, seq, auditEntryCanonicalJson(entry))
      const reason = Buffer.from(hash).equals(entry.hash)
        ? faultOf(entry)
        : 'it does not follow from the entries before it'
      if (reason !== undefined) return { ...found, broken: { seq, reason } }
      if (seq === expected?.seq && toHex(hash) !== expected.hash) {
        return { ...found, broken: { seq, reason: 'its hash is not the expected one' } }
      }
      found.entries = seq
      found.head = { seq, hash: toHex(hash) }
      if (entry.changes !== null && entry.salt === null) found.erased++
    }
    if (page.length === 0) break
  }
  if (Math.max(head.seq, expected?.seq ?? 0) > found.entries) {
    return { ...found, broken: { seq: found.entries + 1, reason: 'it is missing' } }
  }
  if (head.seq < newest) {
    return {
      ...found,
      broken: { seq: head.seq + 1, reason: 'it is newer than the recorded end of the log' }
    }
  }
  if (!Buffer.from(hash).equals(head.hash)) {
    return {
      ...found,
      broken: { seq: head.seq, reason: 'its hash differs from the recorded hash of the whole log' }
    }
  }
  return found
}

export interface UnloggedPermissions {
  person: string
  logged: string[]
  now: string[]
}

/**
 * Finds permissions that differ from those that the log has given, for example because the database
 * was changed by hand.
 */
export async function findUnloggedPermissions(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<UnloggedPermissions[]> {
  return inCompany(deps.db, company_id, async tx => {
    // one statement, because a permission may be given meanwhile. Invitations and the set-up had no
    // entry of their own for the permissions that they gave.
    const { rows } = await sql<UnloggedPermissions>`
      with change as (
        select entry.seq, entry.target_id as person, value.changes::jsonb as fields
          from audit_entry entry join audit_value value using (company_id, seq)
         where company_id = ${company_id} and entry.acted_in = company_id
           and entry.action in ('user.invite', 'user.permissions')
      ), granted as (
        select distinct on (person) person, permissions
          from (
            select seq, person, coalesce(fields #> '{after,permissions}', '[]') as permissions
              from change
             where fields -> 'after' ? 'permissions' or fields -> 'before' ? 'permissions'
            union all
            select seq, actor_id, '["admin", "operator"]'
              from audit_entry where company_id = ${company_id} and action = 'company.set_up'
          ) granted order by person, seq desc
      ), compared as (
        select "user".id as person,
               array(select jsonb_array_elements_text(granted.permissions) order by 1) as logged,
               array(select unnest("user".permissions) order by 1) as now
          from "user" left join granted on granted.person = "user".id
         where "user".company_id = ${company_id} and "user".deleted_at is null
           and ("user".permissions <> '{}' or granted.person is not null)
      )
      select person, logged, now from compared where logged <> now order by person`.execute(tx)
    return rows
  })
}

// one statement, because another transaction may add an entry at any time
async function readEnds(tx: Tx, company_id: CompanyId) {
  const row = await tx
    .selectFrom('company')
    .leftJoin('audit_head', 'audit_head.company_id', 'company.id')
    .where('company.id', '=', company_id)
    .select(({ selectFrom, fn }) => [
      'audit_head.seq',
      'audit_head.hash',
      selectFrom('audit_entry')
        .select(fn.max('seq').as('seq'))
        .where('company_id', '=', company_id)
        .as('newest')
    ])
    .executeTakeFirst()
  const head = { seq: row?.seq ?? 0, hash: row?.hash ?? Buffer.from(initialPreviousHash) }
  return { head, newest: row?.newest ?? 0 }
}

// the person with whose deletion the fields are erased: people create and revoke their own API keys
const personOf = sql<string>`case
  when starts_with(entry.action, 'api_key.') then entry.actor_id else entry.target_id end`

type Entry = Awaited<ReturnType<typeof readPage>>[number]

async function readPage(
  tx: Tx,
  { company_id, after, upTo }: { company_id: CompanyId; after: number; upTo: number }
) {
  return tx
    .selectFrom('audit_entry as entry')
    .leftJoin('audit_value as value', join => joinInCompany(join, 'value.seq', 'entry.seq'))
    .leftJoin('user', join =>
      join.onRef('user.company_id', '=', 'entry.company_id').on('user.id', '=', personOf)
    )
    .where('entry.company_id', '=', company_id)
    .where('entry.seq', '>', after)
    .where('entry.seq', '<=', upTo)
    .orderBy('entry.seq')
    .limit(pageSize)
    .selectAll('entry')
    .select(['value.salt', 'value.changes as value', 'user.id as person', 'user.deleted_at'])
    .execute()
}

/** The text from which the entry's hash is computed. */
export function auditEntryCanonicalJson(entry: Selectable<Database['audit_entry']>): string {
  return canonicalizeAuditEntry({
    company: entry.company_id,
    id: entry.id,
    at: entry.created_at.getTime(),
    actor: { id: entry.actor_id, company: entry.actor_company_id },
    acted_in: entry.acted_in,
    action: entry.action,
    target: entry.target_id,
    ...(entry.changes === null ? {} : { changes: entry.changes })
  })
}

function faultOf(entry: Entry): string | undefined {
  const { company_id, id, action, changes, salt, value, person, deleted_at } = entry
  if (salt === null || value === null) {
    // the undo of an import removes people whom it has created
    const isGone = deleted_at !== null || (person === null && action.startsWith('user.'))
    const isErased = changes === null || isGone
    return isErased ? undefined : 'its changed fields are missing'
  }
  const isCommitted = changes === createChangesCommitment({ company: company_id, id }, salt, value)
  return isCommitted ? undefined : 'its changed fields are not those that were written'
}
