import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { maxUsageDays, type UsageDay } from '../../../contract/overview.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { requireGroup } from './groups.ts'

const dayMs = 86_400_000
const usualDays = 30
// there is no usage before, and PostgreSQL would refuse the year 0
const firstDay = '2000-01-01'

interface UsageQuery {
  company_id: CompanyId
  group?: string | undefined
  // days in UTC, such as `2026-11-22`; by default the 30 that end with `to`
  from?: string | undefined
  // by default today
  to?: string | undefined
}

export async function readUsageDays(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, group, ...period }: UsageQuery
): Promise<UsageDay[]> {
  const days = daysOf(period, deps.clock())
  return inCompany(deps.db, company_id, async tx => {
    if (group !== undefined) await requireGroup(tx, group)
    const [from, to] = [days[0] ?? '', days.at(-1) ?? '']
    const rows = await sumByDay(tx, { group, from, to })
    const used = new Map(rows.map(row => [row.day, row]))
    return days.map(
      day => used.get(day) ?? { day, deposits: 0, verifications: 0, bytes: 0, failed: 0 }
    )
  })
}

/** Of deposits that were begun yesterday or today, in UTC. */
export async function countRecentFailedDeposits(tx: Tx, now: Date): Promise<number> {
  const yesterday = dayOf(now.getTime() - dayMs)
  const { failed } = await selectInCompany(tx, 'usage_day')
    .where('day', '>=', yesterday)
    .select(sql<number>`coalesce(sum(failed), 0)::bigint`.as('failed'))
    .executeTakeFirstOrThrow()
  return failed
}

async function sumByDay(
  tx: Tx,
  { group, from, to }: { group: string | undefined; from: string; to: string }
): Promise<UsageDay[]> {
  return selectInCompany(tx, 'usage_day')
    .where('day', '>=', from)
    .where('day', '<=', to)
    .$if(group !== undefined, days => days.where('group_id', '=', group ?? ''))
    .groupBy('day')
    .select([
      sql<string>`to_char(day, 'YYYY-MM-DD')`.as('day'),
      sql<number>`sum(deposits)::bigint`.as('deposits'),
      sql<number>`sum(verifications)::bigint`.as('verifications'),
      sql<number>`sum(bytes)::bigint`.as('bytes'),
      sql<number>`sum(failed)::bigint`.as('failed')
    ])
    .execute()
}

function daysOf({ from, to }: Pick<UsageQuery, 'from' | 'to'>, now: Date): string[] {
  const last = to ?? dayOf(now.getTime())
  const first = from ?? dayOf(Date.parse(last) - (usualDays - 1) * dayMs)
  const count = (Date.parse(last) - Date.parse(first)) / dayMs + 1
  if (first < firstDay) throw refused('from', `a day from ${firstDay} on`)
  if (count < 1) throw refused('to', 'a day that is not before `from`')
  if (count > maxUsageDays) throw refused('from', `at most ${maxUsageDays} days before \`to\``)
  return Array.from({ length: count }, (_, n) => dayOf(Date.parse(first) + n * dayMs))
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function refused(field: string, detail: string): AppError {
  return new AppError('invalid_input', `Refused. Wanted: ${field} (${detail})`, {
    fields: { [field]: { rule: 'format', detail } }
  })
}
