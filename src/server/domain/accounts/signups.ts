import { sql } from 'kysely'
import { Locale } from '../../../contract/domains.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { maxWaitingSignUps } from '../../../contract/kit/limits.ts'
import type { PublicKeyPayload } from '../../../core/keys/public-key-jwt.ts'
import { mailTokenHash } from '../../../core/keys/public-key-proof.ts'
import {
  deleteInCompany,
  lockCompanyRow,
  selectById,
  selectInCompany,
  updateInCompany
} from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import { listCompanyIds } from '../companies/companies.ts'
import { getPrimaryHost, webOriginOf } from '../companies/served-hosts.ts'
import type { Deps, Tenant } from '../deps.ts'
import { newId } from '../ids.ts'
import {
  createEncryptedPublicKeyColumns,
  spendKeyProof,
  verifyKeyProof
} from '../key-proofs/key-proofs.ts'
import { consumeMailLimits } from '../limits/rate-limits.ts'
import { queueMail } from '../mail/mail-queue.ts'
import {
  buildMailLink,
  createMailToken,
  localizedLinkPath,
  readMailToken,
  spendMailToken
} from '../mail/mail-tokens.ts'
import {
  type AuthenticatedCaller,
  convertSignUpSessions,
  endSessionsOfPeople,
  signalSessionChanges
} from '../sessions/sessions.ts'
import { type InvitationResult, reserveInvitationTimes } from './invitations.ts'
import { waitingSignUpCondition } from './member-row-locks.ts'
import { addUser } from './new-users.ts'
import { lockPersonRow } from './user-keys.ts'

const dayMs = 24 * 3_600_000
const mailedMs = dayMs
// longer, because an administrator has to pass the link on
const unmailedMs = 30 * dayMs

interface NewSignUp {
  tenant: Tenant
  email: string
  username: string
  locale: 'en' | 'fr' | undefined
}

// Does not look up whether the e-mail already has an account, so the response time cannot reveal
// it.
export async function insertSignUpAndQueueMail(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'settings' | 'log' | 'signals'>,
  { tenant, email, username, locale }: NewSignUp,
  proof: PublicKeyPayload
): Promise<{ id: string }> {
  const { company_id } = tenant
  await spendKeyProof(tx, deps, tenant, proof)
  const id = newId(deps)
  const created_at = deps.clock()
  const waitingMs = deps.settings.mailServer ? mailedMs : unmailedMs
  await tx
    .insertInto('signup')
    .values({
      company_id,
      id,
      host: tenant.host,
      email,
      username,
      locale: locale ?? 'und',
      ...createEncryptedPublicKeyColumns(deps, { company_id, user_id: id }, proof),
      created_at,
      expires_at: new Date(created_at.getTime() + waitingMs)
    })
    .execute()
  await queueMail(tx, deps, { tenant, kind: 'signup', email, locale, subject: id })
  await deleteOldestSignUps(tx, deps)
  const facts = { audit: 'signup_waiting', company: company_id, user: id }
  tx.afterCommit(() => deps.log.info(facts, 'sign-up waits for its confirmation'))
  return { id }
}

async function deleteOldestSignUps(tx: Tx, deps: Pick<Deps, 'clock' | 'signals'>): Promise<void> {
  // so that parallel sign-ups are counted one after the other
  await lockCompanyRow(tx)
  const { rows } = await sql<{ id: string }>`
    select id from signup where company_id = ${tx.companyId} and id in (
      select id from signup where company_id = ${tx.companyId}
       order by created_at desc, id desc offset ${maxWaitingSignUps}
    )
    -- one that is being confirmed is deleted by that
    for update skip locked`.execute(tx)
  if (rows.length > 0) await deleteSignUps(tx, deps, { ids: rows.map(({ id }) => id) })
}

export async function resendOwnVerifyLink(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals' | 'counters'>,
  { tenant, person, address }: { tenant: Tenant; person: AuthenticatedCaller; address: string }
): Promise<void> {
  const { company_id, id } = person
  // a person who has confirmed the e-mail needs no mail
  if (!person.pending) return
  const signup = await inCompany(deps.db, company_id, tx =>
    selectById(tx, 'signup', id).select(['email', 'locale']).executeTakeFirst()
  )
  if (!signup) return
  await consumeMailLimits(deps, { tenant, email: signup.email, address })
  await inCompany(deps.db, company_id, tx =>
    queueMail(tx, deps, { tenant, kind: 'signup', ...signup, subject: id })
  )
}

interface Confirmation {
  tenant: Tenant
  /** The person who is signed in to the browser that opened the link. */
  person: AuthenticatedCaller | undefined
  token: string
  /** Undefined in the browser of the sign-up; any other browser chooses anew. */
  chosen: { public_key_jwt: string; username: string } | undefined
}

/**
 * Without the session of the sign-up and without `chosen` it throws `proof_required`, so that the
 * owner of an e-mail cannot confirm an account whose password somebody else has chosen.
 */
export async function confirmSignUpEmail(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'log' | 'signals' | 'settings'>,
  { tenant, person, token, chosen }: Confirmation
): Promise<void> {
  const { company_id } = tenant
  const purpose = 'verify'
  await inCompany(deps.db, company_id, async tx => {
    const given = { purpose, token } as const
    const { subject, email } = await readMailToken(tx, deps, given)
    const signup = await selectById(tx, 'signup', subject)
      .select(['username', 'locale', 'key_id', 'kdf', 'pub_enc', 'kek_id'])
      // waits for a login that is creating a session for this sign-up
      .forUpdate()
      .executeTakeFirst()
    const isHere = person?.pending === true && person.id === subject
    if (!isHere && !chosen) {
      throw new AppError('proof_required', 'The link was opened without the session of its sign-up')
    }
    const th = mailTokenHash(token)
    const proof = chosen && verifyKeyProof({ tenant, email, purpose, ...chosen, th })
    if (proof) await spendKeyProof(tx, deps, tenant, proof)
    await spendMailToken(tx, deps, { ...given, subject })
    if (!signup) throw over()
    const { username, locale, ...key } = signup
    const ownLocale = Locale.safeParse(locale).data
    const made = proof
      ? {
          username: chosen.username,
          locale: undefined,
          key: createEncryptedPublicKeyColumns(deps, { company_id, user_id: subject }, proof)
        }
      : { username, locale: ownLocale, key }
    if (!(await addUser(tx, deps, { id: subject, email, ...made }))) throw over()
    if (proof) await endSessionsOfPeople(tx, deps, [subject])
    else await convertSignUpSessions(tx, deps, subject)
    await deleteSignUps(tx, deps, { email })
    addAuditEntry(tx, deps, {
      by: { id: subject, company_id },
      action: 'user.sign_up',
      target: subject,
      after: { email, username: made.username }
    })
  })
}

export interface UnconfirmedSignUp {
  email: string
  username: string
  company: string
  since: Date
  until: Date
  /**
   * Works once. A person who opens it outside the browser of the sign-up must choose a new
   * password.
   */
  link: string
}

export async function listUnconfirmedSignUpsWithNewLinks(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'settings'>
): Promise<UnconfirmedSignUp[]> {
  const waiting: UnconfirmedSignUp[] = []
  for (const company_id of await listCompanyIds(deps)) {
    waiting.push(...(await inCompany(deps.db, company_id, tx => waitingIn(tx, deps))))
  }
  return waiting
}

async function waitingIn(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'settings'>
): Promise<UnconfirmedSignUp[]> {
  const rows = await selectInCompany(tx, 'signup')
    .innerJoin('company', 'company.id', 'signup.company_id')
    .where(waitingSignUpCondition(deps))
    .orderBy('signup.created_at')
    .orderBy('signup.id')
    .select([
      'signup.id',
      'signup.host',
      'signup.email',
      'signup.username',
      'signup.locale',
      'signup.created_at',
      'signup.expires_at',
      'company.name'
    ])
    .execute()
  const waiting: UnconfirmedSignUp[] = []
  for (const { created_at, expires_at, name, ...signUp } of rows) {
    const { email, username } = signUp
    const link = await createVerifyLink(tx, deps, signUp)
    waiting.push({ email, username, company: name, since: created_at, until: expires_at, link })
  }
  return waiting
}

// leads to the host where the person signed up or, if that is not known, to the primary host
async function createVerifyLink(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'settings'>,
  { id, host, email, locale }: { id: string; host: string | null; email: string; locale: string }
): Promise<string> {
  const token = await createMailToken(tx, deps, 'verify', { id, email })
  const origin = webOriginOf(deps, host ?? (await getPrimaryHost(tx)))
  return buildMailLink(origin, localizedLinkPath(locale, 'verify-account'), { token, email })
}

export async function resendVerifyLink(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals'>,
  { tenant, by, id }: { tenant: Tenant; by: AuthenticatedCaller; id: string }
): Promise<InvitationResult> {
  return inCompany(deps.db, tenant.company_id, async tx => {
    const signUp = await selectById(tx, 'signup', id)
      .where(waitingSignUpCondition(deps))
      .select(['id', 'host', 'email', 'locale'])
      // waits for a confirmation that is making a person of it
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!signUp) {
      await lockPersonRow(tx, id)
      throw new AppError('not_waiting', 'The person has an account')
    }
    const { email, locale } = signUp
    const [reservation] = await reserveInvitationTimes(tx, deps, [email])
    if (!reservation) throw new Error('no time was reserved')
    const { due, isNew } = reservation
    if (isNew)
      await queueMail(tx, deps, { tenant, kind: 'signup', email, locale, subject: id, due })
    addAuditEntry(tx, deps, { by, action: 'user.verify_link', target: id })
    const queued = due > deps.clock() ? { queued_until: due.toISOString() } : {}
    if (deps.settings.mailServer) return { id, ...queued }
    return { id, ...queued, link: await createVerifyLink(tx, deps, signUp) }
  })
}

export async function deleteSignUps(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'signals'>,
  which: { email: string } | { ids: readonly string[] }
): Promise<string[]> {
  const isOne =
    'email' in which
      ? sql<boolean>`email = ${which.email}`
      : sql<boolean>`id = any (${which.ids}::uuid[])`
  const dropped = await deleteInCompany(tx, 'signup').where(isOne).returning('id').execute()
  const ids = dropped.map(({ id }) => id)
  await updateInCompany(tx, 'session')
    .set({ revoked_at: deps.clock() })
    .where(sql<boolean>`user_id = any (${ids}::uuid[])`)
    .where('pending', '=', true)
    .where('revoked_at', 'is', null)
    .execute()
  await deleteInCompany(tx, 'mail_token')
    .where(sql<boolean>`subject = any (${ids}::uuid[])`)
    .where('used_at', 'is', null)
    .execute()
  signalSessionChanges(tx, deps, ids)
  return ids
}

function over(): AppError {
  return new AppError('mail_token_invalid', 'The e-mail has an account, or the sign-up is over')
}
