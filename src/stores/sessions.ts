import { atom } from 'nanostores'
import type * as z from 'zod/mini'
import type { adminCalls } from '../contract/admin-calls.ts'
import type { nonAdminCalls } from '../contract/calls.ts'
import type { CallOptions } from '../contract/kit/call.ts'
import type { Endpoint } from '../contract/kit/endpoint.ts'
import { AppError } from '../contract/kit/errors.ts'
import {
  decodeTokenPayload,
  isTokenUsable,
  readTokenExpirySeconds,
  secondsAheadOfServer
} from '../core/keys/access-token.ts'
import { browserEnvironment, pageLocale } from './environment.ts'
import { resetPersonalAtoms } from './personal-atoms.ts'

export type SessionState = { status: 'out' } | { status: 'in'; token: string }

export const $session = atom<SessionState>({ status: 'out' })

// the stored value begins with the person's id
export const verifiedFileNamesStorageKey = 'vidimus:checked'
const cookieName = '__Host-vidimus'
// browsers silently ignore a larger cookie
const maxCookieBytes = 4096
// seconds that this device's clock is ahead of the server's; `boot.js` also reads them
const clockKey = 'vidimus:clock'
// normally `signed-in-user.ts` has replaced the token earlier, 40 minutes before it expires
const lateMs = 300_000
const lateRetryMs = 30_000

/** `restored`: the tab has found the session in the cookie. */
export type SessionStart = 'signed-in' | 'restored'

const startListeners = new Set<(start: SessionStart) => Promise<void> | void>()
/** `ended`: in any way other than by the person; they may sign in again and continue. */
export type SessionEnd = 'signed-out' | 'ended'

const endListeners = new Set<(end: SessionEnd) => void>()
let isStarted = false
// stays when the session expires, until the person signs out
let lastPerson: string | undefined
let sessions = 0
let notifyTabs: (message: unknown) => void = () => {}
let stopExpiry: () => void = () => {}
let stopRenewal: () => void = () => {}

/** If a session exists already, also calls `run` immediately. Signing in waits for its promise. */
export function addSessionStartListener(run: (start: SessionStart) => Promise<void> | void): void {
  startListeners.add(run)
  if ($session.get().status === 'in') void run('restored')
}

/** `run` is called just before the stores with the person's data are emptied. */
export function addSessionEndListener(run: (end: SessionEnd) => void): void {
  endListeners.add(run)
}

export function restoreSession(): void {
  if (isStarted) return
  isStarted = true
  const { openChannel, onWake } = browserEnvironment()
  notifyTabs = openChannel('vidimus:session', followCookie).send
  onWake(followCookie)
  followCookie()
}

/** `https://docs.acme.fr/…` → `https://api.docs.acme.fr` */
export function apiOrigin(): string {
  const { protocol, host } = browserEnvironment().pageLocation()
  return `${protocol}//api.${host}`
}

type Calls = typeof nonAdminCalls & typeof adminCalls
export type CallName = keyof Calls
export type CallInput<Name extends CallName> = z.input<Calls[Name]['input']>
export type CallOutput<Name extends CallName> = z.output<Calls[Name]['output']>

export type ApiOptions = Pick<CallOptions, 'idempotencyKey' | 'version' | 'company' | 'signal'>

/** Makes all calls of the browser except uploads, file downloads and event streams. */
export async function api<Name extends CallName>(
  name: Name,
  input: CallInput<Name>,
  options: ApiOptions = {}
): Promise<CallOutput<Name>> {
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
  input: CallInput<Name>,
  options: ApiOptions
): Promise<CallOutput<Name>> {
  const { call } = await loadApiCallCode()
  const { fetch } = browserEnvironment()
  const endpoint = await loadEndpoint(name)
  const base = apiOrigin()
  const sent = isAnonymous(endpoint, token) ? undefined : token
  const answer = await call(endpoint, input, { ...options, base, token: sent, fetch })
  return answer as CallOutput<Name> // as: parsed by the very schema that names the type
}

// some public calls refuse the token of a person whose e-mail is not confirmed
function isAnonymous({ access, pending }: Endpoint, token: string | undefined): boolean {
  return access === 'public' && !pending && decodeTokenPayload(token ?? '')?.['st'] === 'pending'
}

let loading: ReturnType<typeof importCalls> | undefined

// loaded before the first call or when the page is idle: they are a tenth of its size
export async function loadApiCallCode() {
  loading ??= importCalls()
  try {
    const [{ call }, { nonAdminCalls }] = await loading
    return { call, nonAdminCalls }
  } catch (cause) {
    loading = undefined // the network may be back at the next call
    throw new AppError('offline', 'The calls of the API could not be loaded', { cause })
  }
}

export async function loadEndpoint(name: CallName): Promise<Endpoint> {
  const { nonAdminCalls } = await loadApiCallCode()
  return isPageCall(name, nonAdminCalls) ? nonAdminCalls[name] : loadAdminCall(name)
}

function isPageCall(
  name: CallName,
  list: typeof nonAdminCalls
): name is keyof typeof nonAdminCalls {
  return name in list
}

// in a separate module, because other people never need them
async function loadAdminCall(name: keyof typeof adminCalls): Promise<Endpoint> {
  try {
    return (await import('../contract/admin-calls.ts')).adminCalls[name]
  } catch (cause) {
    throw new AppError('offline', 'The calls of administrators could not be loaded', { cause })
  }
}

function importCalls() {
  return Promise.all([import('../contract/kit/call.ts'), import('../contract/calls.ts')])
}

export function sessionToken(): string | undefined {
  const session = $session.get()
  return session.status === 'in' ? session.token : undefined
}

/** Changes when the session ends, so that answers to calls of an ended session can be dropped. */
export function sessionGeneration(): number {
  return sessions
}

export function signedInUserId(): string | undefined {
  return userIdOfToken(sessionToken() ?? '')
}

export function userIdOfToken(token: string): string | undefined {
  const user = decodeTokenPayload(token)?.['sub']
  return typeof user === 'string' ? user : undefined
}

/** `'stream'` → `'vidimus:stream:docs.acme.fr:<user>'` */
export function userLockOrChannelName(what: string): string {
  return `vidimus:${what}:${browserEnvironment().pageLocation().host}:${signedInUserId() ?? ''}`
}

/**
 * Ends the session after status 401, and opens the page for disabled people. `token` is that of the
 * call.
 */
export function handleAuthError(error: AppError, token: string | undefined): void {
  // an answer to an older token is no reason to end the present session
  if (error.status === 401 && token === sessionToken()) clearSession('ended')
  if (error.disabled && !browserEnvironment().pageLocation().pathname.endsWith('/disabled')) {
    const details = encodeURIComponent(JSON.stringify(error.disabled))
    browserEnvironment().replacePage(`/${pageLocale()}/disabled?disabled=${details}`)
  }
}

/** Ends the session in all tabs, then on the server if it can be reached. */
export async function signOut(): Promise<void> {
  const token = sessionToken()
  const forgotten = endSessionInBrowser()
  if (token) {
    await callAs(token, 'logOut', {}, {}).catch(() => {
      // the token expires within the hour, and no browser has it any more
    })
  }
  await forgotten
}

/** Unlike `signOut`, throws when the server cannot be reached. */
export async function signOutEverywhere(): Promise<void> {
  await api('logOut', { all: true })
  await endSessionInBrowser()
}

/** Throws `cookies_blocked` if the browser keeps no cookie. */
export async function beginSession(token: string): Promise<void> {
  if ($session.get().status === 'in')
    dropSession(userIdOfToken(token) === lastPerson ? 'ended' : 'signed-out')
  try {
    saveToken(token)
  } catch (error) {
    // no tab could end this session later
    void callAs(token, 'logOut', {}, {}).catch(() => {})
    throw error
  }
  const { readStored, store } = browserEnvironment()
  const isSame = readStored(verifiedFileNamesStorageKey)?.startsWith(`${userIdOfToken(token)}\n`)
  if (!isSame) store(verifiedFileNamesStorageKey, undefined)
  notifyTabs('changed')
  await notifyStart('signed-in')
}

export function replaceToken(token: string): void {
  if ($session.get().status === 'out') return
  saveToken(token)
  notifyTabs('changed')
}

function followCookie(): void {
  const token = browserEnvironment().readCookie(cookieName)
  const session = $session.get()
  const exp = token ? readTokenExpirySeconds(token) : undefined
  if (!token || exp === undefined || !isTokenUsable(exp, serverNow())) {
    if (token || session.status === 'in') clearSession('ended')
    return
  }
  if (session.status === 'in' && session.token === token) return
  const samePerson =
    session.status === 'in' && userIdOfToken(session.token) === userIdOfToken(token)
  if (session.status === 'in' && !samePerson) dropSession('signed-out')
  setSession(token, exp)
  if (!samePerson) void notifyStart('restored')
}

function saveToken(token: string): void {
  const exp = readTokenExpirySeconds(token)
  if (exp === undefined) throw new AppError('unexpected_answer', 'A token without an end')
  const { now, readCookie, store, writeCookie } = browserEnvironment()
  const ahead = secondsAheadOfServer(token, now())
  store(clockKey, ahead === 0 ? undefined : String(ahead))
  const seconds = Math.max(0, Math.floor(exp - serverNow() / 1000))
  const cookie = `${cookieName}=${token}; Max-Age=${seconds}; Path=/; Secure; SameSite=Lax`
  if (cookie.length > maxCookieBytes) {
    throw new AppError('unexpected_answer', 'A token too long for its cookie')
  }
  writeCookie(cookie)
  if (readCookie(cookieName) !== token)
    throw new AppError('cookies_blocked', 'The browser did not keep the cookie')
  setSession(token, exp)
}

// this device's clock may be wrong
function serverNow(): number {
  const { now, readStored } = browserEnvironment()
  const ahead = Number(readStored(clockKey) ?? 0)
  return now() - (Number.isFinite(ahead) ? ahead * 1000 : 0)
}

function setSession(token: string, exp: number): void {
  const { after } = browserEnvironment()
  const leftMs = exp * 1000 - serverNow()
  stopExpiry()
  stopExpiry = after(Math.max(0, leftMs - 1000), followCookie)
  stopRenewal()
  stopRenewal = after(Math.max(lateRetryMs, leftMs - lateMs), () => void renewLate(token))
  $session.set({ status: 'in', token })
}

// normally one tab renews the token for all, but the browser may have frozen it
async function renewLate(token: string): Promise<void> {
  const user = await api('getOwnAccount', {}).catch(() => undefined)
  if (sessionToken() !== token) return
  if (user?.access_token) replaceToken(user.access_token)
  else stopRenewal = browserEnvironment().after(lateRetryMs, () => void renewLate(token))
}

async function notifyStart(start: SessionStart): Promise<void> {
  const person = signedInUserId()
  // somebody else has signed in after the last session expired, so its work must not continue
  if (lastPerson !== undefined && lastPerson !== person) notifyEnd('signed-out')
  lastPerson = person
  await Promise.all([...startListeners].map(run => run(start)))
}

function clearSession(end: SessionEnd): void {
  const { readCookie, writeCookie } = browserEnvironment()
  if (!readCookie(cookieName) && $session.get().status === 'out') return
  writeCookie(`${cookieName}=; Max-Age=0; Path=/; Secure; SameSite=Lax`)
  dropSession(end)
  notifyTabs('changed')
}

/**
 * Also deletes the names of verified files and the unfinished uploads. Does not call the server.
 */
export async function endSessionInBrowser(): Promise<void> {
  clearSession('signed-out')
  browserEnvironment().store(verifiedFileNamesStorageKey, undefined)
  try {
    const { deleteRememberedUploads } = await import('./uploads/remembered-uploads.ts')
    await deleteRememberedUploads()
  } catch {
    // offline before this file was loaded: the next person's visit deletes the uploads
  }
}

function dropSession(end: SessionEnd): void {
  stopExpiry()
  stopRenewal()
  sessions += 1
  $session.set({ status: 'out' })
  notifyEnd(end)
}

function notifyEnd(end: SessionEnd): void {
  // stops running work before the reset, so that nothing fills the stores again
  for (const run of endListeners) run(end)
  resetPersonalAtoms(end === 'signed-out' ? 'person' : 'session')
  if (end === 'signed-out') lastPerson = undefined
}
