import { sql } from 'kysely'
import { deleteById } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, QueuedMailKind, SendingCompany } from '../deps.ts'
import { newId } from '../ids.ts'
import { type LeaseSettings, releaseLease, takeNextLease } from '../leases/leases.ts'
import { createMessageForQueuedMail, type QueuedMail } from './mail-messages.ts'

interface NewMail {
  kind: QueuedMailKind
  // for `signup` and `reset` what somebody typed, so it may have no account
  email: string
  locale?: string | undefined
  // what the mail is about, if the address is not enough
  subject?: string | undefined
  // now, if undefined
  due?: Date | undefined
}

/** If the transaction rolls back, no mail is sent. */
export async function queueMail(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'signals'>,
  { tenant, ...mail }: NewMail & { tenant: SendingCompany }
): Promise<void> {
  await queueMails(tx, deps, tenant, [mail])
}

export async function queueMails(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'signals'>,
  { company_id, host }: SendingCompany,
  mails: NewMail[]
): Promise<void> {
  const now = deps.clock()
  await sql`
    insert into mail (company_id, id, kind, email, locale, host, subject, created_at, next_at)
    select ${company_id}, id, kind, email, locale, ${host}, subject, due, due from unnest(
      ${mails.map(() => newId(deps))}::uuid[], ${mails.map(({ kind }) => kind)}::text[],
      ${mails.map(({ email }) => email)}::text[],
      ${mails.map(({ locale = 'und' }) => locale)}::text[],
      ${mails.map(({ subject }) => subject ?? null)}::uuid[],
      ${mails.map(({ due = now }) => due)}::timestamptz[]
    ) as queued (id, kind, email, locale, subject, due)`.execute(tx)
  tx.afterCommit(() => deps.signals.mails.send(company_id))
}

const sending: LeaseSettings<'mail'> = { table: 'mail', until: 'next_at', ms: 120_000 }

// after failed attempts; the last one repeats
const delaySeconds = [10, 30, 60, 120, 300, 600, 900]
// then a mail that could not be sent is deleted
const keptMs = 3 * 86_400_000

/**
 * Returns false if no mail was due or sending failed. If the process crashes right after sending,
 * the mail is sent again, with a new token.
 */
export async function sendNextMail(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'mails' | 'settings' | 'log'>,
  company_id: CompanyId,
  // called before a mail is sent
  onFound: () => void = () => undefined
): Promise<boolean> {
  const mail = await inCompany(deps.db, company_id, tx => claimMail(tx, deps))
  if (!mail) return false
  onFound()
  const facts = { company: company_id, mail: mail.id, kind: mail.kind }
  try {
    const message = await createMessageForQueuedMail(deps, mail)
    const outcome = message && (await deps.mails.send(message))
    if (outcome) {
      const text = outcome === 'sent' ? 'mail sent' : 'mail refused by the mail server for good'
      deps.log.info({ ...facts, outcome }, text)
    }
  } catch (error) {
    const isOver = deps.clock().getTime() - mail.created_at.getTime() > keptMs
    if (isOver)
      deps.log.error({ ...facts, err: error }, 'mail could not be sent in three days: deleted')
    else deps.log.warn({ ...facts, err: error }, 'mail could not be sent, tried again later')
    await (isOver ? remove(deps, mail) : postpone(deps, mail))
    return false
  }
  await remove(deps, mail)
  return true
}

async function claimMail(tx: Tx, deps: Pick<Deps, 'clock'>): Promise<QueuedMail | undefined> {
  const row = await takeNextLease(tx, sending, deps.clock(), {
    orderBy: sql`next_at, id`,
    set: { attempts: sql`attempts + 1` }
  })
  // as: the table checks both columns
  return row && { ...row, company_id: tx.companyId, kind: row.kind as QueuedMailKind }
}

async function postpone(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, id, attempts }: QueuedMail
): Promise<void> {
  const seconds = delaySeconds[Math.min(attempts, delaySeconds.length) - 1] ?? 0
  const next_at = new Date(deps.clock().getTime() + seconds * 1000)
  await inCompany(deps.db, company_id, tx => releaseLease(tx, sending, { id }, next_at))
}

async function remove(deps: Pick<Deps, 'db'>, { company_id, id }: QueuedMail): Promise<void> {
  await inCompany(deps.db, company_id, tx => deleteById(tx, 'mail', id).execute())
}
