import { Locale as LocaleSchema } from '../../../contract/domains.ts'
import { selectById, selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { findPrimaryDomain, findTenant, webOriginOf } from '../companies/served-hosts.ts'
import type { CompanyId, Deps, MailMessage, QueuedMailKind, Tenant } from '../deps.ts'
import {
  buildMailLink,
  createMailToken,
  hasRecentUnusedMailToken,
  localizedLinkPath
} from './mail-tokens.ts'

// after a reset link was mailed, no second one is mailed, even if it is requested
const justMailedMs = 5 * 60_000

/** Has no text, which is written when the mail is sent. */
export interface QueuedMail {
  company_id: CompanyId
  id: string
  kind: QueuedMailKind
  email: string
  locale: string
  host: string
  subject: string | null
  created_at: Date
  attempts: number
}

/**
 * Creates a new link. Undefined if the mail is not to be sent, for example because the account no
 * longer exists.
 */
export async function createMessageForQueuedMail(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'settings'>,
  mail: QueuedMail
): Promise<MailMessage | undefined> {
  const tenant = await findSender(deps, mail)
  if (!tenant) return undefined
  const { config } = tenant
  const address = await inCompany(deps.db, mail.company_id, tx => addressOf(tx, deps, mail))
  if (!address) return undefined
  const { kind, to, page, token, key } = address
  const chosen = LocaleSchema.safeParse(mail.locale === 'und' ? address.locale : mail.locale)
  const locale = chosen.success ? chosen.data : config.locale
  const [origin, path] = [
    webOriginOf(deps, tenant.host),
    localizedLinkPath(chosen.success ? locale : 'und', page)
  ]
  const link =
    token === undefined ? `${origin}${path}` : buildMailLink(origin, path, { token, email: to })
  return {
    id: mail.id,
    kind,
    to,
    locale,
    from: {
      host: tenant.host,
      company: config.name,
      colors: config.theme.colors,
      contact: config.contact
    },
    link,
    ...(key && { key })
  }
}

// anybody can invent a host below a wildcard, so links lead there only if the company has no
// primary host
async function findSender(
  deps: Pick<Deps, 'db'>,
  { company_id, host }: QueuedMail
): Promise<Tenant | undefined> {
  const asked = await findTenant(deps, host)
  const own = asked?.company_id === company_id ? asked : undefined
  if (own && !own.isWildcard) return own
  const primary = await inCompany(deps.db, company_id, findPrimaryDomain)
  return primary ? findTenant(deps, primary.host) : own
}

interface Address {
  kind: MailMessage['kind']
  to: string
  locale: string
  // without the language
  page: string
  token?: string
  key?: MailMessage['key']
}

async function addressOf(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  mail: QueuedMail
): Promise<Address | undefined> {
  switch (mail.kind) {
    case 'signup':
      return (await messageToKnown(tx, deps, mail)) ?? messageToSignUp(tx, deps, mail)
    case 'reset':
    case 'activate':
      return messageToPerson(tx, deps, mail)
    case 'email_confirm':
      return (await messageToKnown(tx, deps, mail)) ?? messageToNewEmail(tx, deps, mail)
    case 'email_notice':
    case 'password_changed':
      return { kind: mail.kind, to: mail.email, locale: mail.locale, page: 'reset-password' }
    case 'key_created':
    case 'key_renewed':
    case 'key_ending':
      return messageAboutKey(tx, mail, mail.kind)
    case 'account_deleted':
      return { kind: mail.kind, to: mail.email, locale: mail.locale, page: '' }
  }
}

// to the owner of an e-mail that somebody has used for a sign-up or a change of e-mail
async function messageToKnown(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  mail: QueuedMail
): Promise<Address | undefined> {
  const person = await findPerson(tx, mail)
  if (person?.isInvited) return messageToInvited(tx, deps, person)
  return person && { kind: 'known', to: person.email, locale: person.locale, page: 'sign-in' }
}

async function messageToSignUp(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  mail: QueuedMail
): Promise<Address | undefined> {
  const signup = await selectById(tx, 'signup', mail.subject ?? mail.id)
    .where('expires_at', '>', deps.clock())
    .select(['id', 'email', 'locale'])
    .executeTakeFirst()
  if (!signup) return undefined
  const token = await createMailToken(tx, deps, 'verify', signup)
  const { email: to, locale } = signup
  return { kind: 'verify', to, locale, page: 'verify-account', token }
}

async function messageToPerson(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  mail: QueuedMail
): Promise<Address | undefined> {
  const person = await findPerson(tx, mail)
  if (!person) return undefined
  if (person.isInvited) return messageToInvited(tx, deps, person)
  if (mail.kind === 'activate' || !person.hasKey) return undefined
  const { id: subject, email: to, locale } = person
  // two mails to one person may be sent at the same time
  await selectById(tx, 'user', subject).select('id').forUpdate().execute()
  const mailed = { purpose: 'reset', subject, withinMs: justMailedMs } as const
  // only in the first attempt, because a failed attempt has created a token itself
  if (mail.attempts === 1 && (await hasRecentUnusedMailToken(tx, deps, mailed))) return undefined
  const token = await createMailToken(tx, deps, 'reset', person)
  return { kind: 'reset', to, locale, page: 'reset-password', token }
}

async function messageToInvited(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  person: KnownPerson
): Promise<Address> {
  const token = await createMailToken(tx, deps, 'activate', person)
  const { email: to, locale } = person
  return { kind: 'activate', to, locale, page: 'activate-account', token }
}

async function messageAboutKey(
  tx: Tx,
  { subject, id, email: to, locale }: QueuedMail,
  kind: MailMessage['kind']
): Promise<Address | undefined> {
  const key = await selectById(tx, 'api_key', subject ?? id)
    .select(['name', 'hint', 'expires_at', 'group_id'])
    .executeTakeFirst()
  // a key that was revoked meanwhile can do nothing any more
  if (!key) return undefined
  const page = key.group_id === null ? 'me#keys' : `admin/${tx.companyId}#keys`
  const { name, hint, expires_at: expires } = key
  return { kind, to, locale, page, key: { name, hint, expires } }
}

async function messageToNewEmail(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  mail: QueuedMail
): Promise<Address | undefined> {
  const change = await selectInCompany(tx, 'email_change')
    .where('user_id', '=', mail.subject ?? mail.id)
    .where('email', '=', mail.email)
    .where('expires_at', '>', deps.clock())
    .select(['user_id as id', 'email'])
    .executeTakeFirst()
  if (!change) return undefined
  const token = await createMailToken(tx, deps, 'email', change)
  return { kind: 'email_confirm', to: change.email, locale: 'und', page: 'confirm-email', token }
}

interface KnownPerson {
  id: string
  email: string
  locale: string
  hasKey: boolean
  // and has not chosen a password yet
  isInvited: boolean
}

async function findPerson(tx: Tx, { email }: QueuedMail): Promise<KnownPerson | undefined> {
  const row = await selectInCompany(tx, 'user')
    .leftJoin('user_key', join =>
      joinInCompany(join, 'user_key.user_id', 'user.id').on('user_key.retired_at', 'is', null)
    )
    .where('user.email', '=', email)
    .select(['user.id', 'user.email', 'user.locale', 'user.invited_at', 'user_key.key_id'])
    .limit(1)
    .executeTakeFirst()
  if (!row) return undefined
  const { key_id, invited_at, ...person } = row
  return { ...person, hasKey: key_id !== null, isInvited: key_id === null && invited_at !== null }
}
