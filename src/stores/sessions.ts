import { atom } from 'nanostores'
import type * as z from 'zod/mini'
import type { CallOptions } from '../contract/call.ts'
import type { calls } from '../contract/calls.ts'
import type { Endpoint } from '../contract/endpoint.ts'
import { AppError } from '../contract/errors.ts'
import { clockAhead, expiryOf, isUsable, readPayload } from '../core/keys/access-token.ts'
import { environment, pageLocale } from './environment.ts'

/** `exp` in seconds since the epoch, as the token says. */
export type Session = { status: 'out' } | { status: 'in'; token: string; exp: number }

export const $session = atom<Session>({ status: 'out' })

/** Names of checked files, behind the id of whose they are; `checked-names.ts` reads and writes them. */
export const checkedNamesKey = 'vidimus:checked'
const cookieName = '__Host-vidimus'
/** Browsers refuse a longer cookie without a word. */
const maxCookieBytes = 4096
/** Seconds by which this device's clock is ahead of the server's; `boot.js` reads it as well. */
const clockKey = 'vidimus:clock'
/** Whoever asks for the person renews the token 40 minutes before its end; this is for when nobody did. */
const lateMs = 300_000
const lateRetryMs = 30_000

/** How a session came to be here: by what the person just did, or from the cookie. */
export type SessionStart = 'signed-in' | 'restored'

const arrivals = new Set<(arrival: SessionStart) => Promise<void> | void>()
/** How it went: the person signed out here, or it ended by itself, by the server or in another tab. */
export type SessionEnd = 'signed-out' | 'ended'

const departures = new Set<(departure: SessionEnd) => void>()
let started = false
let tellTabs: (message: unknown) => void = () => {}
let stopExpiry: () => void = () => {}
let stopRenewal: () => void = () => {}

/** Runs whenever a session begins, now if one is there; `signIn` waits for it. */
export function onSignIn(run: (arrival: SessionStart) => Promise<void> | void): void {
  arrivals.add(run)
  if ($session.get().status === 'in') void run('restored')
}

/** Runs whenever a session ends, so that each store forgets what belonged to the person. */
export function onSignOut(run: (departure: SessionEnd) => void): void {
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

type Calls = typeof calls
type CallName = keyof Calls
type InputOf<Name extends CallName> = z.input<Calls[Name]['input']>
type OutputOf<Name extends CallName> = z.output<Calls[Name]['output']>

type ApiOptions = Pick<CallOptions, 'idempotencyKey' | 'signal'>

/** The browser's only caller of the API: adds base and token, and heeds what every call may answer. */
export async function api<Name extends CallName>(
  name: Name,
  input: InputOf<Name>,
  options: ApiOptions = {}
): Promise<OutputOf<Name>> {
  const token = sessionToken()
  try {
    return await callAs(token, name, input, options)
  } catch (error) {
    if (error instanceof AppError) handleAuthError(error, token)
    throw error
  }
}

async function callAs<Name extends CallName>(
  token: string | undefined,
  name: Name,
  input: InputOf<Name>,
  options: ApiOptions
): Promise<OutputOf<Name>> {
  const { call, calls } = await loadCalls()
  const { fetch } = environment()
  const endpoint: Endpoint = calls[name]
  const base = apiOrigin()
  const shown = isForStrangers(endpoint, token) ? undefined : token
  const answer = await call(endpoint, input, { ...options, base, token: shown, fetch })
  return answer as OutputOf<Name> // as: parsed by the very schema that names the type
}

/** A sign-up that waits for its mail may do what strangers may, as one of them and not in its name. */
function isForStrangers({ access, pending }: Endpoint, token: string | undefined): boolean {
  return access === 'public' && !pending && readPayload(token ?? '')?.['st'] === 'pending'
}

let loading: ReturnType<typeof importCalls> | undefined

/**
 * The list of calls brings the parser of answers, a tenth of a page, which no page needs before its
 * first call. The shell asks for it as soon as the page rests.
 */
export async function loadCalls() {
  loading ??= importCalls()
  try {
    const [{ call }, { calls }] = await loading
    return { call, calls }
  } catch (cause) {
    loading = undefined // the next call may find the network back
    throw new AppError('offline', 'The calls of the API could not be loaded', { cause })
  }
}

function importCalls() {
  return Promise.all([import('../contract/call.ts'), import('../contract/calls.ts')])
}

export function sessionToken(): string | undefined {
  const session = $session.get()
  return session.status === 'in' ? session.token : undefined
}

/** Returns the id of the person who is signed in. */
export function signedInUser(): string | undefined {
  const user = readPayload(sessionToken() ?? '')?.['sub']
  return typeof user === 'string' ? user : undefined
}

/** Names what the tabs of this person in this browser share: `'stream'` → `'vidimus:stream:docs.acme.fr:<user>'` */
export function sharedName(what: string): string {
  return `vidimus:${what}:${environment().place().host}:${signedInUser() ?? ''}`
}

/** What holds for an error of any call: 401 signs out, and who is disabled is told so. */
export function handleAuthError(error: AppError, token: string | undefined): void {
  // The answer to a token that has been replaced since says nothing about the present one.
  if (error.status === 401 && token === sessionToken()) leave('ended')
  if (error.disabled && !environment().place().pathname.endsWith('/disabled')) {
    const details = encodeURIComponent(JSON.stringify(error.disabled))
    environment().replacePage(`/${pageLocale()}/disabled?disabled=${details}`)
  }
}

/** Ends the session here and in other tabs at once, then on the server as far as it can be reached. */
export async function signOut(): Promise<void> {
  const token = sessionToken()
  const left = forgetSession()
  if (token) {
    await callAs(token, 'logOut', {}, {}).catch(() => {
      // The token ends by itself within the hour, and nobody holds it any more.
    })
  }
  await left
}

/** Ends every session of the person, in all browsers; unlike `signOut` it fails where the server does. */
export async function signOutEverywhere(): Promise<void> {
  await api('logOut', { all: true })
  await forgetSession()
}

/** Begins the session of a token that a login has just answered. */
export async function beginSession(token: string): Promise<void> {
  if ($session.get().status === 'in') depart('ended')
  keep(token)
  const { readStored, store } = environment()
  const isSame = readStored(checkedNamesKey)?.startsWith(`${subjectOf(token)}\n`)
  if (!isSame) store(checkedNamesKey, undefined)
  tellTabs('changed')
  await arrive('signed-in')
}

/** The fresh token that the server sends before the old one ends. */
export function renewToken(token: string): void {
  if ($session.get().status === 'out') return
  keep(token)
  tellTabs('changed')
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
  const { after } = environment()
  const leftMs = exp * 1000 - serverNow()
  stopExpiry()
  stopExpiry = after(Math.max(0, leftMs - 1000), restore)
  stopRenewal()
  stopRenewal = after(Math.max(lateRetryMs, leftMs - lateMs), () => void renewLate(token))
  $session.set({ status: 'in', token, exp })
}

/** The tab that asks for all may be frozen: near the end each asks for itself, or an upload would stop. */
async function renewLate(token: string): Promise<void> {
  const user = await api('getUser', {}).catch(() => undefined)
  if (sessionToken() !== token) return
  if (user?.access_token) renewToken(user.access_token)
  else stopRenewal = environment().after(lateRetryMs, () => void renewLate(token))
}

async function arrive(arrival: SessionStart): Promise<void> {
  await Promise.all([...arrivals].map(run => run(arrival)))
}

function leave(departure: SessionEnd): void {
  const { readCookie, writeCookie } = environment()
  if (!readCookie(cookieName) && $session.get().status === 'out') return
  writeCookie(`${cookieName}=; Max-Age=0; Path=/; Secure; SameSite=Lax`)
  depart(departure)
  tellTabs('changed')
}

/** Drops the session here; names and fingerprints of the person's files stay in no browser. */
export async function forgetSession(): Promise<void> {
  leave('signed-out')
  environment().store(checkedNamesKey, undefined)
  try {
    const { forgetUploads } = await import('./remembered-uploads.ts')
    await forgetUploads()
  } catch {
    // offline, before any upload needed that file: the next person's sign-in forgets them
  }
}

function depart(departure: SessionEnd): void {
  stopExpiry()
  stopRenewal()
  $session.set({ status: 'out' })
  for (const run of departures) run(departure)
}

function subjectOf(token: string): unknown {
  return readPayload(token)?.['sub']
}
