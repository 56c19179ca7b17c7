import { sql } from 'kysely'
import type { Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { newId } from '../ids.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const maxPerRecipientHour = 3
const maxPerCompanyDay = 5000

/**
 * Reserves a time for mailing an invitation to `email`: now, or the first time that the limits of
 * the e-mail and the company allow. Returns the reserved time as `due`. If an invitation to this
 * e-mail is queued already, returns its time, with `isNew` false.
 */
export async function scheduleInvitation(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random'>,
  email: string
): Promise<{ due: Date; isNew: boolean }> {
  const company_id = tx.companyId
  const now = deps.clock()
  const recipient = deps.keys.mac('pseudonym', JSON.stringify(['invitation', company_id, email]))
  // this row lock lets parallel invitations of a company be counted one after the other
  await sql`select from company where id = ${company_id} for no key update`.execute(tx)
  await tx
    .deleteFrom('invitation')
    .where('company_id', '=', company_id)
    .where('due_at', '<', new Date(now.getTime() - dayMs))
    .execute()
  const all = tx.selectFrom('invitation').where('company_id', '=', company_id).select('due_at')
  const own = all.where('recipient', '=', recipient).orderBy('due_at', 'desc')
  const latest = await own.limit(maxPerRecipientHour).execute()
  const queued = latest[0]?.due_at
  if (queued && queued > now) return { due: queued, isNew: false }
  const blocking = await all
    .orderBy('due_at', 'desc')
    .offset(maxPerCompanyDay - 1)
    .limit(1)
    .executeTakeFirst()
  const due = new Date(
    Math.max(
      now.getTime(),
      endOf(latest[maxPerRecipientHour - 1]?.due_at, hourMs),
      endOf(blocking?.due_at, dayMs)
    )
  )
  await tx
    .insertInto('invitation')
    .values({ company_id, id: newId(deps), recipient, due_at: due })
    .execute()
  return { due, isNew: true }
}

function endOf(start: Date | undefined, ms: number): number {
  return start ? start.getTime() + ms : 0
}
