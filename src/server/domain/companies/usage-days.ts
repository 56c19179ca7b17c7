import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { maxUsageDays, type UsageDay } from '../../../contract/overview.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { requireGroup } from './groups.ts'

const dayMs = 86_400_000
const usualDays = 30
/**
 * The earliest day that can be requested. There is no usage before this day, and PostgreSQL would
 * refuse the year 0.
 */
const firstDay = '2000-01-01'

interface UsageQuery {
  company_id: CompanyId
  /** The id of a group of the company. Undefined for the usage of the whole company. */
  group?: string | undefined
  /**
   * The first day to return, in UTC, such as `2026-11-22`. If undefined, the 30 days that end with
   * `to` are returned.
   */
  from?: string | undefined
  /** The last day to return, in UTC. Today if undefined. */
  to?: string | undefined
}

/**
 * Returns what a company or one of its groups used on each day of a period, oldest first. Throws
 * `not_found` if the company has no such group. Throws `invalid_input` if the period is longer than
 * 400 days, ends before it begins, or begins before the year 2000.
 */
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

/**
 * Returns the number of the company's deposits that were begun yesterday or today (in UTC) and
 * failed.
 */
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

/** Returns the UTC day of a time in milliseconds, such as `2026-11-22`. */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function refused(field: string, detail: string): AppError {
  return new AppError('invalid_input', `Refused. Wanted: ${field} (${detail})`, {
    fields: { [field]: { rule: 'format', detail } }
  })
}
