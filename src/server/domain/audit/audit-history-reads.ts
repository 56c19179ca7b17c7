import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { type AdminCall, addAuditEntry } from './audit-entries.ts'

// between two entries about the same administrator
const entryMs = 10 * 60_000

export async function recordHistoryReading(
  deps: Pick<Deps, 'db' | 'clock' | 'random'>,
  { company_id, by }: AdminCall
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    const now = deps.clock()
    const before = new Date(now.getTime() - entryMs)
    // most reads find an entry and lock nothing
    if (await isEntered(tx, by.id, before)) return
    const entered = await tx
      .insertInto('history_reading')
      .values({ company_id, reader_id: by.id, entered_at: now })
      .onConflict(conflict =>
        conflict
          .columns(['company_id', 'reader_id'])
          .doUpdateSet({ entered_at: now })
          .where('history_reading.entered_at', '<=', before)
      )
      .returning('reader_id')
      .executeTakeFirst()
    if (entered) addAuditEntry(tx, deps, { by, action: 'company.read_history', target: company_id })
  })
}

async function isEntered(tx: Tx, reader_id: string, before: Date): Promise<boolean> {
  const found = await selectInCompany(tx, 'history_reading')
    .where('reader_id', '=', reader_id)
    .where('entered_at', '>', before)
    .select('reader_id')
    .executeTakeFirst()
  return found !== undefined
}
