import type { LinkPurpose } from '../../contract/accounts.ts'
import type { LinkDelivery } from '../../contract/users.ts'
import type { Locale } from '../../i18n/index.ts'
import { api } from '../sessions.ts'
import { refreshUser } from '../signed-in-user.ts'
import { registerKeyAndSignIn } from './accounts.ts'
import type { MailLinkFragment } from './mail-link-fragment.ts'

/** Throws if the link is not valid. For an invitation, returns the name of the invited person. */
export function checkMailLink(
  { token }: MailLinkFragment,
  purpose: LinkPurpose
): Promise<{ username?: string | undefined }> {
  return api('checkMailLink', { token, purpose })
}

/** Throws `proof_required` if the person has signed up in another browser. */
export async function confirmSignUp({ token }: MailLinkFragment): Promise<void> {
  await api('verifyEmail', { token })
  await refreshUser()
}

/** For a sign-up in another browser. */
export async function confirmSignUpWithPassword(
  link: MailLinkFragment,
  { username, password }: { username: string; password: string }
): Promise<void> {
  await registerKeyAndSignIn({ ...link, password, purpose: 'verify' }, public_key_jwt =>
    api('verifyEmail', { token: link.token, public_key_jwt, username })
  )
}

export async function activateAccount(
  link: MailLinkFragment,
  { username, password, locale }: { username: string; password: string; locale: Locale }
): Promise<void> {
  await registerKeyAndSignIn({ ...link, password, purpose: 'activate' }, public_key_jwt =>
    api('activateUser', { token: link.token, username, public_key_jwt, locale })
  )
}

export async function resetPassword(
  link: MailLinkFragment,
  password: string,
  keep_api_keys: boolean
): Promise<void> {
  await registerKeyAndSignIn({ ...link, password, purpose: 'reset' }, public_key_jwt =>
    api('resetPassword', { token: link.token, public_key_jwt, keep_api_keys })
  )
}

// the result is the same if no account has this e-mail, so that nobody learns who has one
export async function requestPasswordReset(email: string): Promise<LinkDelivery> {
  const { delivery } = await api('requestPasswordReset', { email })
  return delivery ?? 'mail'
}

export async function resendOwnVerifyLink(): Promise<void> {
  await api('resendOwnVerifyLink', {})
}

export async function confirmEmailChange({ token }: MailLinkFragment): Promise<void> {
  await api('confirmEmailChange', { token })
  await refreshUser()
}
