import type { LinkPurpose } from '../../contract/accounts.ts'
import type { Delivery } from '../../contract/users.ts'
import { canonicalEmail } from '../../core/input/email.ts'
import type { Locale } from '../../i18n/index.ts'
import { api } from '../sessions.ts'
import { refresh } from '../users.ts'
import { signInWithNewKey } from './accounts.ts'

/** What the link of a mail carries in its fragment. */
export interface MailLink {
  token: string
  /** Whom it was sent to: the key of a password depends on it. */
  email: string
}

/** `#t=…&email=ada%40example.com` → both; nothing where it is no such link. */
export function readMailLink(hash: string): MailLink | undefined {
  const values = new URLSearchParams(hash.replace(/^#/, ''))
  const [token, email] = [values.get('t'), canonicalEmail(values.get('email') ?? '')]
  return token && email !== undefined ? { token, email } : undefined
}

/** Whether a link still opens something, and the name of an invitation. Rejects as its use would. */
export function readLink(
  { token }: MailLink,
  purpose: LinkPurpose
): Promise<{ username?: string | undefined }> {
  return api('readLink', { token, purpose })
}

/** Confirms the sign-up of this browser; `proof_required` where it was made in another one. */
export async function confirmSignUp({ token }: MailLink): Promise<void> {
  await api('verifyEmail', { token })
  await refresh()
}

/** The same anywhere else: name and password become the account's, and sign in. */
export async function confirmWithPassword(
  link: MailLink,
  { username, password }: { username: string; password: string }
): Promise<void> {
  await signInWithNewKey({ ...link, password, purpose: 'verify' }, public_key_jwt =>
    api('verifyEmail', { token: link.token, public_key_jwt, username })
  )
}

/** Gives an invited person name and password, and signs them in. */
export async function activate(
  link: MailLink,
  { username, password, locale }: { username: string; password: string; locale: Locale }
): Promise<void> {
  await signInWithNewKey({ ...link, password, purpose: 'activate' }, public_key_jwt =>
    api('activateUser', { token: link.token, username, public_key_jwt, locale })
  )
}

/** Signs in too, because whoever has just chosen a password knows it. */
export async function resetPassword(link: MailLink, password: string): Promise<void> {
  await signInWithNewKey({ ...link, password, purpose: 'reset' }, public_key_jwt =>
    api('resetKey', { token: link.token, public_key_jwt })
  )
}

/** Returns how the link arrives, which is the same for every e-mail. */
export async function requestReset(email: string): Promise<Delivery> {
  const { delivery } = await api('requestReset', { email })
  return delivery ?? 'mail'
}

export async function sendVerification(): Promise<void> {
  await api('sendVerification', {})
}

export async function confirmEmail({ token }: MailLink): Promise<void> {
  await api('confirmEmail', { token })
  await refresh()
}
