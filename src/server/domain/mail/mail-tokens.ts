import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { LinkPurpose } from '../../../contract/accounts.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { mailLinkMinutes } from '../../../core/mail-link-minutes.ts'
import {
  deleteInCompany,
  selectById,
  selectInCompany,
  updateInCompany
} from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

interface Bound {
  purpose: LinkPurpose
  // a sign-up for `verify`, otherwise a person
  subject: string
  email: string
}

/** The database stores only the hash. */
export async function createMailToken(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  purpose: LinkPurpose,
  person: { id: string; email: string }
): Promise<string> {
  const { tokens } = await createMailTokens(tx, deps, { purpose, people: [person] })
  const [token] = tokens
  if (token === undefined) throw new Error('no token was created')
  return token
}

interface NewTokens {
  purpose: LinkPurpose
  // or sign-ups
  people: readonly { id: string; email: string }[]
  // not mailed, but given to an administrator who passes them on
  isHandedOut?: boolean
}

export async function createMailTokens(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  { purpose, people, isHandedOut = false }: NewTokens
): Promise<{ tokens: string[]; until: Date }> {
  const tokens = people.map(() => Buffer.from(deps.random(32)).toString('base64url'))
  const hashes = tokens.map(hashOf)
  const created_at = deps.clock()
  const until = new Date(created_at.getTime() + mailLinkMinutes[purpose] * 60_000)
  await sql`
    insert into mail_token (
      company_id, hash, purpose, subject, email, key_id, created_at, expires_at, handed_out
    )
    select ${tx.companyId}, hash, ${purpose}, subject, email, (
        select key_id from user_key
         where user_key.company_id = ${tx.companyId} and user_key.user_id = subject
           and retired_at is null
         order by user_key.created_at desc limit 1
      ), ${created_at}, ${until}, ${isHandedOut}
      from unnest(
        ${hashes}::bytea[], ${people.map(({ id }) => id)}::uuid[],
        ${people.map(({ email }) => email)}::text[]
      ) as made (hash, subject, email)`.execute(tx)
  await deleteOldestTokens(tx, { purpose, people, hashes, now: created_at })
  return { tokens, until }
}

// of one purpose for a person; of more, the oldest no longer work
const maxTokens = 20

async function deleteOldestTokens(
  tx: Tx,
  {
    purpose,
    people,
    hashes,
    now
  }: Pick<NewTokens, 'purpose' | 'people'> & { hashes: Buffer[]; now: Date }
): Promise<void> {
  // the new ones first, because others may be of the same instant, or of a clock that is ahead
  await sql`
    delete from mail_token where company_id = ${tx.companyId} and hash in (
      select hash from (
        select hash, row_number() over (
            partition by subject order by hash = any(${hashes}::bytea[]) desc, created_at desc
          ) as place
          from mail_token
         where company_id = ${tx.companyId} and purpose = ${purpose}
           and subject = any(${people.map(({ id }) => id)}::uuid[])
           and used_at is null and expires_at > ${now}
      ) as kept where place > ${maxTokens})`.execute(tx)
}

export async function hasRecentUnusedMailToken(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { purpose, subject, withinMs }: Omit<Bound, 'email'> & { withinMs: number }
): Promise<boolean> {
  const found = await selectInCompany(tx, 'mail_token')
    .where('subject', '=', subject)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('created_at', '>', new Date(deps.clock().getTime() - withinMs))
    .select('hash')
    .executeTakeFirst()
  return found !== undefined
}

/**
 * `('fr', 'sign-in')` → `'/fr/sign-in'`. With `und` it has no prefix and opens in the language of
 * the reader's browser.
 */
export function localizedLinkPath(locale: string, page: string): string {
  return `${locale === 'und' ? '' : `/${locale}`}/${page}`
}

/**
 * Token and e-mail are in the fragment, which browsers do not send, so they are in no server log.
 */
export function buildMailLink(
  origin: string,
  path: string,
  { token, email }: { token: string; email: string }
): string {
  const url = new URL(path, origin)
  url.hash = new URLSearchParams({ t: token, email }).toString()
  return url.href
}

/**
 * Does not use up the token. Throws `mail_token_used`, or `mail_token_invalid` if it is unknown or
 * expired or the person's key has changed since.
 */
export async function readMailToken(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { purpose, token }: Pick<Bound, 'purpose'> & { token: string }
): Promise<Pick<Bound, 'subject' | 'email'>> {
  // a single statement, because between two a parallel call could use the token and register a key
  const row = await selectInCompany(tx, 'mail_token')
    .leftJoin('user_key', join =>
      joinInCompany(join, 'user_key.user_id', 'mail_token.subject').on(
        'user_key.retired_at',
        'is',
        null
      )
    )
    .where('mail_token.hash', '=', hashOf(token))
    .where('mail_token.purpose', '=', purpose)
    .select([
      'mail_token.subject',
      'mail_token.email',
      'mail_token.key_id',
      'mail_token.used_at',
      'mail_token.expires_at',
      'user_key.key_id as present_key'
    ])
    .limit(1)
    .executeTakeFirst()
  if (row?.used_at) throw new AppError('mail_token_used', 'The token was used before')
  if (!row || row.expires_at <= deps.clock() || row.key_id !== row.present_key) throw invalid()
  return { subject: row.subject, email: row.email }
}

export async function checkMailLink(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, purpose, token }: { company_id: CompanyId; purpose: LinkPurpose; token: string }
): Promise<{ username?: string }> {
  return inCompany(deps.db, company_id, async tx => {
    const { subject } = await readMailToken(tx, deps, { purpose, token })
    // only for invitations, because a stranger may have chosen the name of a sign-up
    if (purpose !== 'activate') return {}
    const user = await selectById(tx, 'user', subject).select('username').executeTakeFirst()
    return user ?? {}
  })
}

/**
 * Of parallel calls, one succeeds; others throw as `readMailToken` does. The caller has locked the
 * row of the person or sign-up, so that the public key does not change meanwhile.
 */
export async function spendMailToken(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { purpose, token, subject }: Omit<Bound, 'email'> & { token: string }
): Promise<void> {
  const now = deps.clock()
  const spent = await updateInCompany(tx, 'mail_token')
    .set({ used_at: now })
    .where('hash', '=', hashOf(token))
    .where('purpose', '=', purpose)
    .where('subject', '=', subject)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where('key_id', 'is not distinct from', await presentKey(tx, subject))
    .returning('hash')
    .executeTakeFirst()
  if (spent) return
  // throws the error that says why the token is not valid
  await readMailToken(tx, deps, { purpose, token })
  throw invalid()
}

/** Used tokens remain, so that a second use still fails with `mail_token_used`. */
export async function revokeMailTokens(tx: Tx, user_id: string): Promise<void> {
  await deleteInCompany(tx, 'mail_token')
    .where('subject', '=', user_id)
    .where('used_at', 'is', null)
    .execute()
}

async function presentKey(tx: Tx, subject: string): Promise<string | null> {
  const key = await selectInCompany(tx, 'user_key')
    .where('user_id', '=', sql<string>`${subject}::uuid`)
    .where('retired_at', 'is', null)
    .orderBy('created_at', 'desc')
    .select('key_id')
    .limit(1)
    .executeTakeFirst()
  return key?.key_id ?? null
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function invalid(): AppError {
  return new AppError('mail_token_invalid', 'The token is expired, void, or none of this company')
}
