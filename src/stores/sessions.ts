import { atom } from 'nanostores'
import type * as z from 'zod/mini'
import { type CallOptions, call } from '../contract/call.ts'
import type { Endpoint } from '../contract/endpoint.ts'
import { AppError } from '../contract/errors.ts'
import { getChallenge, logIn, logOut } from '../contract/sessions.ts'
import { changeKey, createUser } from '../contract/users.ts'
import { clockAhead, expiryOf, isUsable, readPayload } from '../core/token.ts'
import type { Locale } from '../i18n/index.ts'
import type { Keys } from '../workers/kdf-client.ts'
import { environment, pageLocale } from './environment.ts'

/** `exp` in seconds since the epoch, as the token says. */
export type Session = { status: 'out' } | { status: 'in'; token: string; exp: number }

export const $session = atom<Session>({ status: 'out' })

const cookieName = '__Host-vidimus'
/** Browsers refuse a longer cookie without a word. */
const maxCookieBytes = 4096
const deviceKey = 'vidimus:device'
/** Seconds by which this device's clock is ahead of the server's; `boot.js` reads it as well. */
const clockKey = 'vidimus:clock'

/** How a session came to be here: by what the person just did, or from the cookie. */
export type Arrival = 'signed-in' | 'restored'

const arrivals = new Set<(arrival: Arrival) => Promise<void> | void>()
/** How it went: the person signed out here, or it ended by itself, by the server or in another tab. */
export type Departure = 'signed-out' | 'ended'

const departures = new Set<(departure: Departure) => void>()
let started = false
let tellTabs: (message: unknown) => void = () => {}
let stopExpiry: () => void = () => {}

/** Runs whenever a session begins, now if one is there; `signIn` waits for it. */
export function onSignIn(run: (arrival: Arrival) => Promise<void> | void): void {
  arrivals.add(run)
  if ($session.get().status === 'in') void run('restored')
}

/** Runs whenever a session ends, so that each store forgets what belonged to the person. */
export function onSignOut(run: (departure: Departure) => void): void {
  departures.add(run)
}

/** Takes up the session of the cookie and keeps with what other tabs do. Once per document. */
export function startSession(): void {
  if (started) return
  started = true
  const { openChannel, onWake } = environment()
  tellTabs = openChannel('vidimus:session', restore).say
  onWake(restore)
  restore()
}

/** `https://docs.acme.fr/…` → `https://api.docs.acme.fr` */
export function apiOrigin(): string {
  const { protocol, host } = environment().place()
  return `${protocol}//api.${host}`
}

/** The browser's only caller of the API: adds base and token, and heeds what every call may answer. */
export async function api<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  endpoint: Endpoint<Input, Output>,
  input: z.input<Input>,
  options: Pick<CallOptions, 'idempotencyKey' | 'signal'> = {}
): Promise<z.output<Output>> {
  const token = sessionToken()
  try {
    const { fetch } = environment()
    return await call(endpoint, input, { ...options, base: apiOrigin(), token, fetch })
  } catch (error) {
    if (error instanceof AppError) heed(error, token)
    throw error
  }
}

export function sessionToken(): string | undefined {
  const session = $session.get()
  return session.status === 'in' ? session.token : undefined
}

/** Names what the tabs of this person in this browser share: `'stream'` → `'vidimus:stream:docs.acme.fr:<user>'` */
export function sharedName(what: string): string {
  const token = sessionToken()
  return `vidimus:${what}:${environment().place().host}:${token ? subjectOf(token) : ''}`
}

/** What holds for an error of any call: 401 signs out, and who is disabled is told so. */
export function heed(error: AppError, token: string | undefined): void {
  // The answer to a token that has been replaced since says nothing about the present one.
  if (error.status === 401 && token === sessionToken()) leave('ended')
  if (error.disabled && !environment().place().pathname.endsWith('/disabled')) {
    const details = encodeURIComponent(JSON.stringify(error.disabled))
    environment().replacePage(`/${pageLocale()}/disabled?disabled=${details}`)
  }
}

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
    api(createUser, { email, username, public_key_jwt, locale })
  )
}

/** Hands the new key's proof to the call that makes its person, then signs in with the key. */
export async function signUpWith<Made>(
  { email, password }: { email: string; password: string },
  register: (public_key_jwt: string) => Promise<Made>
): Promise<Made> {
  const keys = await environment().openKeys(email, password)
  try {
    const { challenge } = await api(getChallenge, { email, purpose: 'signup' })
    const aud = environment().place().hostname
    const made = await register(await keys.publicKeyJwt({ challenge, aud, purpose: 'signup' }))
    await logInWith(keys, email)
    return made
  } finally {
    keys.close()
  }
}

/** Ends the session here and in other tabs at once, then on the server as far as it can be reached. */
export async function signOut(): Promise<void> {
  const token = sessionToken()
  leave('signed-out')
  if (!token) return
  const { fetch } = environment()
  await call(logOut, {}, { base: apiOrigin(), token, fetch }).catch(() => {
    // The token ends by itself within the hour, and nobody holds it any more.
  })
}

/** Ends every session of the person, in all browsers; unlike `signOut` it fails where the server does. */
export async function signOutEverywhere(): Promise<void> {
  await api(logOut, { all: true })
  leave('signed-out')
}

/** Drops a session that the server has ended with its account. */
export function forgetSession(): void {
  leave('signed-out')
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
      const { challenge } = await api(getChallenge, { email: input.email, purpose })
      const [challenge_response, public_key_jwt] = await Promise.all([
        present.respond(challenge, purpose, aud),
        next.publicKeyJwt({ challenge, aud, purpose })
      ])
      await api(changeKey, { challenge_response, public_key_jwt })
    } finally {
      next.close()
    }
  } finally {
    present.close()
  }
}

/** The fresh token that the server sends before the old one ends. */
export function renewToken(token: string): void {
  if ($session.get().status === 'out') return
  keep(token)
  tellTabs('changed')
}

/** Signs in with keys that are open already. */
export async function logInWith(keys: Keys, email: string): Promise<void> {
  const { challenge } = await api(getChallenge, { email, purpose: 'login' })
  const host = environment().place().hostname
  const challenge_response = await keys.respond(challenge, 'login', host)
  const known = environment().readStored(deviceKey)
  const { access_token, device } = await api(logIn, {
    email,
    challenge_response,
    ...(known === undefined || known.length > 128 ? {} : { device: known })
  })
  environment().store(deviceKey, device)
  if ($session.get().status === 'in') depart('ended')
  keep(access_token)
  tellTabs('changed')
  await arrive('signed-in')
}

/** Follows the cookie: another tab may have signed in or out, or the token may have ended. */
function restore(): void {
  const token = environment().readCookie(cookieName)
  const session = $session.get()
  const exp = token ? expiryOf(token) : undefined
  if (!token || exp === undefined || !isUsable(exp, serverNow())) {
    if (token || session.status === 'in') leave('ended')
    return
  }
  if (session.status === 'in' && session.token === token) return
  const samePerson = session.status === 'in' && subjectOf(session.token) === subjectOf(token)
  if (session.status === 'in' && !samePerson) depart('ended')
  hold(token, exp)
  if (!samePerson) void arrive('restored')
}

function keep(token: string): void {
  const exp = expiryOf(token)
  if (exp === undefined) throw new AppError('unexpected_answer', 'A token without an end')
  const { now, store, writeCookie } = environment()
  const ahead = clockAhead(token, now())
  store(clockKey, ahead === 0 ? undefined : String(ahead))
  const seconds = Math.max(0, Math.floor(exp - serverNow() / 1000))
  const cookie = `${cookieName}=${token}; Max-Age=${seconds}; Path=/; Secure; SameSite=Lax`
  if (cookie.length > maxCookieBytes) {
    throw new AppError('unexpected_answer', 'A token too long for its cookie')
  }
  writeCookie(cookie)
  hold(token, exp)
}

/** The server's time as far as it is known, because this device's clock may be a day off. */
function serverNow(): number {
  const { now, readStored } = environment()
  const ahead = Number(readStored(clockKey) ?? 0)
  return now() - (Number.isFinite(ahead) ? ahead * 1000 : 0)
}

function hold(token: string, exp: number): void {
  stopExpiry()
  stopExpiry = environment().after(Math.max(0, exp * 1000 - serverNow() - 1000), restore)
  $session.set({ status: 'in', token, exp })
}

async function arrive(arrival: Arrival): Promise<void> {
  await Promise.all([...arrivals].map(run => run(arrival)))
}

function leave(departure: Departure): void {
  const { readCookie, writeCookie } = environment()
  if (!readCookie(cookieName) && $session.get().status === 'out') return
  writeCookie(`${cookieName}=; Max-Age=0; Path=/; Secure; SameSite=Lax`)
  depart(departure)
  tellTabs('changed')
}

function depart(departure: Departure): void {
  stopExpiry()
  $session.set({ status: 'out' })
  for (const run of departures) run(departure)
}

function subjectOf(token: string): unknown {
  return readPayload(token)?.['sub']
}
