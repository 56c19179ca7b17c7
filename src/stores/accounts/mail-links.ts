import type { LinkPurpose } from '../../contract/accounts.ts'
import type { LinkDelivery } from '../../contract/users.ts'
import type { Locale } from '../../i18n/index.ts'
import { api } from '../sessions.ts'
import { refreshUser } from '../signed-in-user.ts'
import { registerKeyAndSignIn } from './accounts.ts'
import type { MailLinkFragment } from './mail-link-fragment.ts'

/**
 * Checks whether a mailed link is still valid, and throws if it is not. For an invitation, returns
 * the name of the invited person.
 */
export function checkMailLink(
  { token }: MailLinkFragment,
  purpose: LinkPurpose
): Promise<{ username?: string | undefined }> {
  return api('checkMailLink', { token, purpose })
}

/** Confirms a sign-up. Throws `proof_required` if the person has signed up in another browser. */
export async function confirmSignUp({ token }: MailLinkFragment): Promise<void> {
  await api('verifyEmail', { token })
  await refreshUser()
}

/**
 * Confirms a sign-up that was made in another browser. Sets the person's name and password, and
 * signs the person in.
 */
export async function confirmSignUpWithPassword(
  link: MailLinkFragment,
  { username, password }: { username: string; password: string }
): Promise<void> {
  await registerKeyAndSignIn({ ...link, password, purpose: 'verify' }, public_key_jwt =>
    api('verifyEmail', { token: link.token, public_key_jwt, username })
  )
}

/** Gives an invited person a name and a password, and signs them in. */
export async function activateAccount(
  link: MailLinkFragment,
  { username, password, locale }: { username: string; password: string; locale: Locale }
): Promise<void> {
  await registerKeyAndSignIn({ ...link, password, purpose: 'activate' }, public_key_jwt =>
    api('activateUser', { token: link.token, username, public_key_jwt, locale })
  )
}

/** Sets a new password with the token of a mailed link, and signs in with it. */
export async function resetPassword(
  link: MailLinkFragment,
  password: string,
  keep_api_keys: boolean
): Promise<void> {
  await registerKeyAndSignIn({ ...link, password, purpose: 'reset' }, public_key_jwt =>
    api('resetPassword', { token: link.token, public_key_jwt, keep_api_keys })
  )
}

/**
 * Requests a mail with a link to reset the password. Returns how the link is delivered. The result
 * is the same if no account has this e-mail, so that nobody learns who has an account.
 */
export async function requestPasswordReset(email: string): Promise<LinkDelivery> {
  const { delivery } = await api('requestPasswordReset', { email })
  return delivery ?? 'mail'
}

/** Requests another mail with the link that confirms the e-mail of a sign-up. */
export async function resendOwnVerifyLink(): Promise<void> {
  await api('resendOwnVerifyLink', {})
}

/** Confirms the new e-mail of a signed-in person with the token of the mailed link. */
export async function confirmEmailChange({ token }: MailLinkFragment): Promise<void> {
  await api('confirmEmailChange', { token })
  await refreshUser()
}
