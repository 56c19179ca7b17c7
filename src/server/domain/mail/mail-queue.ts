import { sql } from 'kysely'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, MailKind, Tenant } from '../deps.ts'
import { newId } from '../ids.ts'
import { claimNext, type Lease, release } from '../leases.ts'
import { prepareLetter, type QueuedMail } from './letters.ts'

interface Queued {
  tenant: Tenant
  kind: MailKind
  /** The recipient. For `signup` and `reset` it is the e-mail that somebody entered. */
  email: string
  locale?: string | undefined
  /** The id of the sign-up or the person. */
  subject?: string | undefined
  /** When to send the mail. The default is now. */
  due?: Date
}

/** Queues a mail. If the transaction rolls back, the mail is not sent. */
export async function queueMail(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'signals'>,
  { tenant, kind, email, locale = 'und', subject, due = deps.clock() }: Queued
): Promise<void> {
  const { company_id, host } = tenant
  await tx
    .insertInto('mail')
    .values({
      company_id,
      id: newId(deps),
      kind,
      email,
      locale,
      host,
      subject: subject ?? null,
      created_at: due,
      next_at: due
    })
    .execute()
  tx.afterCommit(() => deps.signals.mails.send(company_id))
}

const sending: Lease<'mail'> = { table: 'mail', until: 'next_at', ms: 120_000 }

const delaySeconds = [10, 30, 60, 120, 300, 600, 900]
/** After this many milliseconds without success a mail is deleted. */
const keptMs = 3 * 86_400_000

/**
 * Sends the company's mail that is due for the longest time. A mail is sent at least once: after a
 * crash it is sent again, with another token. Returns false if no mail was due, or if sending
 * failed and the mail waits for its next attempt.
 */
export async function sendNextMail(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'mails' | 'settings' | 'log'>,
  company_id: CompanyId,
  /** Called when a mail was found, before it is sent. */
  onFound: () => void = () => undefined
): Promise<boolean> {
  const mail = await inCompany(deps.db, company_id, tx => claimMail(tx, deps))
  if (!mail) return false
  onFound()
  const facts = { company: company_id, mail: mail.id, kind: mail.kind }
  try {
    const letter = await prepareLetter(deps, mail)
    const outcome = letter && (await deps.mails.send(letter))
    if (outcome) {
      deps.log.info({ ...facts, outcome }, outcome === 'sent' ? 'mail sent' : 'mail refused')
    }
  } catch (error) {
    const isOver = deps.clock().getTime() - mail.created_at.getTime() > keptMs
    deps.log[isOver ? 'error' : 'warn']({ ...facts, err: error }, 'mail could not be sent')
    await (isOver ? remove(deps, mail) : postpone(deps, mail))
    return false
  }
  await remove(deps, mail)
  return true
}

async function claimMail(tx: Tx, deps: Pick<Deps, 'clock'>): Promise<QueuedMail | undefined> {
  const row = await claimNext(tx, sending, deps.clock(), {
    orderBy: sql`next_at, id`,
    set: { attempts: sql`attempts + 1` }
  })
  // as: the table checks both columns
  return row && { ...row, company_id: tx.companyId, kind: row.kind as MailKind }
}

async function postpone(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, id, attempts }: QueuedMail
): Promise<void> {
  const seconds = delaySeconds[Math.min(attempts, delaySeconds.length) - 1] ?? 0
  const next_at = new Date(deps.clock().getTime() + seconds * 1000)
  await inCompany(deps.db, company_id, tx => release(tx, sending, { id }, next_at))
}

async function remove(deps: Pick<Deps, 'db'>, { company_id, id }: QueuedMail): Promise<void> {
  await inCompany(deps.db, company_id, tx =>
    tx.deleteFrom('mail').where('company_id', '=', company_id).where('id', '=', id).execute()
  )
}
