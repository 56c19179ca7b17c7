import {
  activateUser,
  changeEmail as changeEmailCall,
  confirmEmail as confirmEmailCall,
  deleteUser,
  requestReset as requestResetCall,
  resetKey,
  sendVerification as sendVerificationCall,
  verifyEmail
} from '../contract/accounts.ts'
import { getChallenge } from '../contract/sessions.ts'
import { canonicalEmail } from '../core/email.ts'
import type { PublicKeyPurpose } from '../core/public-key-jwt.ts'
import type { Locale } from '../i18n/index.ts'
import { environment } from './environment.ts'
import { api, forgetSession, logInWith } from './sessions.ts'
import { refresh } from './users.ts'

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

/** Confirms the sign-up of this browser; `proof_required` where it was made in another one. */
export async function confirmSignUp({ token }: MailLink): Promise<void> {
  await api(verifyEmail, { token })
  await refresh()
}

/** The same anywhere else: the password becomes the account's, and signs in. */
export async function confirmWithPassword(link: MailLink, password: string): Promise<void> {
  await withNewKey(link, password, 'verify', (public_key_jwt, token) =>
    api(verifyEmail, { token, public_key_jwt })
  )
}

/** Gives an invited person name and password, and signs them in. */
export async function activate(
  link: MailLink,
  { username, password, locale }: { username: string; password: string; locale: Locale }
): Promise<void> {
  await withNewKey(link, password, 'activate', (public_key_jwt, token) =>
    api(activateUser, { token, username, public_key_jwt, locale })
  )
}

/** Signs in too, because whoever has just chosen a password knows it. */
export async function resetPassword(link: MailLink, password: string): Promise<void> {
  await withNewKey(link, password, 'reset', (public_key_jwt, token) =>
    api(resetKey, { token, public_key_jwt })
  )
}

export async function requestReset(email: string): Promise<void> {
  await api(requestResetCall, { email })
}

export async function sendVerification(): Promise<void> {
  await api(sendVerificationCall, {})
}

/** The key depends on the e-mail, so the same password makes another one for the new address. */
export async function changeEmail(input: {
  email: string
  password: string
  next: string
}): Promise<void> {
  const { openKeys, place } = environment()
  const aud = place().hostname
  await proven(input, async (challenge, challenge_response) => {
    const next = await openKeys(input.next, input.password)
    try {
      const purpose = 'email'
      const public_key_jwt = await next.publicKeyJwt({
        challenge,
        aud,
        purpose,
        present: input.email
      })
      await api(changeEmailCall, { email: input.next, challenge_response, public_key_jwt })
    } finally {
      next.close()
    }
  })
}

export async function confirmEmail({ token }: MailLink): Promise<void> {
  await api(confirmEmailCall, { token })
  await refresh()
}

/** Erases the account; nobody is signed in any more. */
export async function deleteAccount(input: { email: string; password: string }): Promise<void> {
  await proven(input, async (_challenge, challenge_response) => {
    await api(deleteUser, { challenge_response })
  })
  forgetSession()
}

/** Derives the key of a new password for a link, hands its proof over, and signs in with it. */
async function withNewKey(
  { token, email }: MailLink,
  password: string,
  purpose: PublicKeyPurpose,
  register: (public_key_jwt: string, token: string) => Promise<void>
): Promise<void> {
  const keys = await environment().openKeys(email, password)
  try {
    const { challenge } = await api(getChallenge, { email, purpose: 'signup' })
    const aud = environment().place().hostname
    await register(await keys.publicKeyJwt({ challenge, aud, purpose, token }), token)
    await logInWith(keys, email)
  } finally {
    keys.close()
  }
}

/** Answers a challenge with the present password and hands both over. */
async function proven(
  { email, password }: { email: string; password: string },
  act: (challenge: string, challenge_response: string) => Promise<void>
): Promise<void> {
  const { openKeys, place } = environment()
  const keys = await openKeys(email, password)
  try {
    const purpose = 'rekey'
    const { challenge } = await api(getChallenge, { email, purpose })
    await act(challenge, await keys.respond(challenge, purpose, place().hostname))
  } finally {
    keys.close()
  }
}
