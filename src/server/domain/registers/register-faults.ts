import { sql } from 'kysely'
import { registerLimits } from '../../../contract/kit/limits.ts'
import { selectInCompany, updateById } from '../../db/company-queries.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { Failure, type ImportInProgress, keepLease } from './register-attempts.ts'
import type { RowFault } from './register-file.ts'

// The refused rows of an import, which people download and mend. Their bytes are counted with the
// import, because a file can have a million of them.

/** Of an import that may still run. */
export const openStates = ['uploading', 'reading', 'checked'] as const

// that a row of the table takes beside its values
const rowBytes = 100

/** Throws `Failure` if the open imports of the company refuse too many. */
export async function insertFaults(
  tx: Tx,
  import_id: string,
  faults: readonly RowFault[]
): Promise<void> {
  if (faults.length === 0) return
  const rows = faults.map(({ row }) => row)
  const reasons = faults.map(each => JSON.stringify(each.reasons))
  const sealed = faults.map(({ sealed: { buffer, byteOffset, length } }) =>
    Buffer.from(buffer, byteOffset, length)
  )
  await sql`
    insert into register_fault (company_id, import_id, number, reasons, sealed)
    select ${tx.companyId}::uuid, ${import_id}::uuid, number, reasons::jsonb, sealed
      from unnest(${rows}::int[], ${reasons}::text[], ${sealed}::bytea[])
           as fault (number, reasons, sealed)`.execute(tx)
  const bytes = [...reasons, ...sealed].reduce((sum, { length }) => sum + length, 0)
  await updateById(tx, 'register_import', import_id)
    .set({ refused_bytes: sql`refused_bytes + ${bytes + rows.length * rowBytes}` })
    .execute()
  const used = await selectInCompany(tx, 'register_import')
    .where('state', 'in', openStates)
    .select(({ fn }) => fn.sum<number>('refused_bytes').as('bytes'))
    .executeTakeFirstOrThrow()
  if (Number(used.bytes) > registerLimits.refusedBytes) throw new Failure('too_many_refused_rows')
}

export async function countFaults(tx: Tx, import_id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from register_fault
     where company_id = ${tx.companyId} and import_id = ${import_id}`.execute(tx)
  return rows[0]?.count ?? 0
}

const erasedAtOnce = 10_000

/** Of an attempt that was interrupted. */
export async function eraseFaultsOf(
  deps: Pick<Deps, 'db' | 'clock'>,
  work: ImportInProgress
): Promise<void> {
  const { company_id, id } = work
  for (;;) {
    const erased = await inCompany(deps.db, toCompanyId(company_id), async tx => {
      await keepLease(tx, deps, work, { refused_bytes: 0 })
      const { numAffectedRows = 0n } = await sql`
        delete from register_fault where company_id = ${company_id} and import_id = ${id}
          and number in (
            select number from register_fault where company_id = ${company_id} and import_id = ${id}
             order by number limit ${erasedAtOnce})`.execute(tx)
      return Number(numAffectedRows)
    })
    if (erased < erasedAtOnce) return
  }
}

/**
 * Erases some refused rows of imports that are deleted or have failed, and of those that ran before
 * others which need the room. Returns whether there may be more.
 */
export async function eraseUnneededFaults(
  { db }: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<boolean> {
  // the ids are read one by one from the primary key, because there are few of them and many rows
  const text = `
    with recursive owner as (
      (select import_id as id from register_fault where company_id = $1 order by import_id limit 1)
      union all
      select (
        select import_id from register_fault where company_id = $1 and import_id > owner.id
        order by import_id limit 1
      ) from owner where owner.id is not null
    ), needed as (
      select id, state, sum(refused_bytes) over (
          partition by state in ('done', 'undone') order by created_at desc, id desc
        ) as bytes
      from register_import where company_id = $1 and state <> 'failed'
    ), gone as (
      select id from owner where id is not null and not exists (
        select from needed where needed.id = owner.id
          and (needed.state not in ('done', 'undone') or needed.bytes <= $2)
      ) limit 1
    ), erased as (
      delete from register_fault where company_id = $1 and ctid = any (array(
        select ctid from register_fault
        where company_id = $1 and import_id = (select id from gone) limit $3
      )) returning 1
    )
    select count(*)::integer as erased from erased`
  const values = [company_id, registerLimits.refusedBytes, erasedAtOnce]
  const [found] = await inCompany(db, company_id, tx =>
    tx.raw<{ erased: number }>({ text, values })
  )
  return found !== undefined && found.erased > 0
}
