import type { Locale } from '../i18n/index.ts'
import type { Keys } from '../workers/kdf-client.ts'
import { environment } from './environment.ts'
import { api, beginSession } from './sessions.ts'

const deviceKey = 'vidimus:device'

export async function signIn(input: { email: string; password: string }): Promise<void> {
  const keys = await environment().openKeys(input.email, input.password)
  try {
    await logInWith(keys, input.email)
  } finally {
    keys.close()
  }
}

/** Registers the key of e-mail and password, then signs in with it. */
export async function signUp(input: {
  email: string
  username: string
  password: string
  locale: Locale
}): Promise<void> {
  const { email, username, password, locale } = input
  await signUpWith({ email, password }, public_key_jwt =>
    api('createUser', { email, username, public_key_jwt, locale })
  )
}

/** Hands the new key's proof to the call that makes its person, then signs in with the key. */
export async function signUpWith<Made>(
  { email, password }: { email: string; password: string },
  register: (public_key_jwt: string) => Promise<Made>
): Promise<Made> {
  const keys = await environment().openKeys(email, password)
  try {
    const { challenge } = await api('getChallenge', { email, purpose: 'signup' })
    const aud = environment().place().hostname
    const made = await register(await keys.publicKeyJwt({ challenge, aud, purpose: 'signup' }))
    await logInWith(keys, email)
    return made
  } finally {
    keys.close()
  }
}

/** Both keys are derived here; the present one answers for the change, the next one proves itself. */
export async function changePassword(input: {
  email: string
  password: string
  next: string
}): Promise<void> {
  const { openKeys, place } = environment()
  const present = await openKeys(input.email, input.password)
  try {
    const next = await openKeys(input.email, input.next)
    try {
      const purpose = 'rekey'
      const aud = place().hostname
      const { challenge } = await api('getChallenge', { email: input.email, purpose })
      const [challenge_response, public_key_jwt] = await Promise.all([
        present.respond(challenge, purpose, aud),
        next.publicKeyJwt({ challenge, aud, purpose })
      ])
      await api('changeKey', { challenge_response, public_key_jwt })
    } finally {
      next.close()
    }
  } finally {
    present.close()
  }
}

async function logInWith(keys: Keys, email: string): Promise<void> {
  const { challenge } = await api('getChallenge', { email, purpose: 'login' })
  const host = environment().place().hostname
  const challenge_response = await keys.respond(challenge, 'login', host)
  const known = environment().readStored(deviceKey)
  const { access_token, device } = await api('logIn', {
    email,
    challenge_response,
    ...(known === undefined || known.length > 128 ? {} : { device: known })
  })
  environment().store(deviceKey, device)
  await beginSession(access_token)
}
