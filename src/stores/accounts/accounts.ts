import type { PublicKeyPurpose } from '../../core/keys/public-key-jwt.ts'
import type { Locale } from '../../i18n/index.ts'
import type { SigningWorker } from '../../workers/kdf-client.ts'
import { browserEnvironment } from '../environment.ts'
import { api, beginSession } from '../sessions.ts'
// signing in waits until this module, which listens to the session, has loaded the person
import '../signed-in-user.ts'

const deviceKey = 'vidimus:device'

export interface Credentials {
  email: string
  password: string
}

export async function signIn({ email, password }: Credentials): Promise<void> {
  const keys = await browserEnvironment().startSigningWorker(email, password)
  try {
    await logInWith(keys, email)
  } finally {
    keys.close()
  }
}

export async function findDemoAccount(): Promise<Credentials | undefined> {
  try {
    return (await api('getDemoAccount', {})).account
  } catch {
    // the demonstration is optional: people can sign in without it
    return undefined
  }
}

export async function signUp(
  input: Credentials & { username: string; locale: Locale }
): Promise<void> {
  const { email, username, password, locale } = input
  await registerKeyAndSignIn({ email, password, purpose: 'signup' }, public_key_jwt =>
    api('createUser', { email, username, public_key_jwt, locale })
  )
}

interface NewKey extends Credentials {
  purpose: Exclude<PublicKeyPurpose, 'rekey' | 'email'>
  token?: string
}

/** `register` gets a JWT that contains the public key and proves possession of the private key. */
export async function registerKeyAndSignIn<Made>(
  { email, password, purpose, token }: NewKey,
  register: (public_key_jwt: string) => Promise<Made>
): Promise<Made> {
  const { startSigningWorker, pageLocation } = browserEnvironment()
  const keys = await startSigningWorker(email, password)
  try {
    const { challenge } = await api('getChallenge', { email, purpose: 'signup' })
    const aud = pageLocation().hostname
    const made = await register(await keys.publicKeyJwt({ challenge, aud, purpose, token }))
    await logInWith(keys, email)
    return made
  } finally {
    keys.close()
  }
}

async function logInWith(keys: SigningWorker, email: string): Promise<void> {
  const { challenge } = await api('getChallenge', { email, purpose: 'login' })
  const host = browserEnvironment().pageLocation().hostname
  const challenge_response = await keys.respond(challenge, 'login', host)
  const known = browserEnvironment().readStored(deviceKey)
  const { access_token, device } = await api('logIn', {
    email,
    challenge_response,
    ...(known === undefined || known.length > 128 ? {} : { device: known })
  })
  browserEnvironment().store(deviceKey, device)
  await beginSession(access_token)
}
