import { atom } from 'nanostores'
import type { Disabled } from '../contract/disabled.ts'
import { AppError } from '../contract/errors.ts'
import type { UserInfo } from '../contract/users.ts'
import type { Locale } from '../i18n/index.ts'
import { environment, pageLocale } from './environment.ts'
import { rememberLanguage } from './language-cookie.ts'
import {
  $session,
  api,
  onSignIn,
  onSignOut,
  renewToken,
  type SessionStart,
  sessionNumber,
  sharedName
} from './sessions.ts'
import { joinTabGroup, type TabGroup } from './tab-leader.ts'

/** The person who is signed in. Undefined while signed out and until the first answer. */
export const $user = atom<UserInfo | undefined>(undefined)

/** Why the API refuses the person: they, or the whole company, are disabled. */
export const $blocked = atom<Disabled | undefined>(undefined)

const refreshMs = 30_000
/** Storage key of what `boot.js` reads before the first paint, to show the right entries of the menu. */
const snapshotKey = 'vidimus:user'

/** How the session began, until its language is settled. */
let sessionStart: SessionStart | undefined
/** The tabs of this person, one of which calls the API for all. */
let tabs: TabGroup | undefined
let isLeading = false
let stopTimer: () => void = () => {}
let stopWake: () => void = () => {}

onSignIn(begin)
onSignOut(end)

/** Returns whether the person has a feature or permission of this name: `deposit`, `admin`. */
export function can(name: string): boolean {
  const user = $user.get()
  return user !== undefined && (user.features.includes(name) || user.permissions.includes(name))
}

/** Saves the language of the person, if one is signed in. */
export async function saveLanguage(locale: Locale): Promise<void> {
  if ($session.get().status === 'in') await change({ locale })
}

export async function rename(username: string): Promise<void> {
  await change({ username })
}

async function change(fields: { locale: Locale } | { username: string }): Promise<void> {
  const session = sessionNumber()
  const user = await api('updateUser', fields)
  if (session === sessionNumber()) publish(user)
}

async function begin(start: SessionStart): Promise<void> {
  sessionStart = start
  tabs = joinTabGroup({
    name: sharedName('user'),
    environment: environment(),
    lead,
    follow: () => {},
    onNews: news => void showNews(news),
    snapshot: () => $user.get()
  })
  stopWake = environment().onWake(() => {
    if (isLeading) refreshNow()
  })
  await refreshUser()
}

async function showNews(news: unknown): Promise<void> {
  const session = sessionNumber()
  const { UserInfo } = await import('../contract/users.ts')
  const user = UserInfo.safeParse(news)
  if (user.success && session === sessionNumber()) show(user.data)
}

function end(): void {
  tabs?.leave()
  tabs = undefined
  stopWake()
  environment().store(snapshotKey, undefined)
  $user.set(undefined)
  $blocked.set(undefined)
}

/**
 * Settles the language once per session: the account takes the page's language if it has none,
 * otherwise the page takes the account's.
 */
async function settleLocale(user: UserInfo): Promise<void> {
  const start = sessionStart
  sessionStart = undefined
  if (!start) return
  if (user.locale === 'und') await saveLanguage(pageLocale()).catch(() => {})
  else if (user.locale !== pageLocale()) switchLanguage(user.locale, start)
}

/**
 * Switches the page to a language. After a sign-in another page opens anyway, in the language of
 * the cookie.
 */
function switchLanguage(locale: Locale, start: SessionStart): void {
  const address = rememberLanguage(locale)
  if (start === 'restored') environment().replacePage(address)
}

/** Loads the person every 30 seconds, for the other tabs too. */
function lead(): () => void {
  isLeading = true
  scheduleRefresh()
  return () => {
    isLeading = false
    stopTimer()
  }
}

function scheduleRefresh(): void {
  stopTimer()
  stopTimer = environment().after(refreshMs, refreshNow)
}

function refreshNow(): void {
  void refreshUser()
}

/** Loads the person now. After a failure the next periodic refresh tries again. */
export async function refreshUser(): Promise<void> {
  if (isLeading) scheduleRefresh()
  const session = sessionNumber()
  try {
    const user = await api('getUser', {})
    if (session !== sessionNumber()) return
    publish(user)
    await settleLocale(user)
  } catch (error) {
    if (session === sessionNumber() && error instanceof AppError && error.disabled)
      $blocked.set(error.disabled)
  }
}

/** Shows the person in this tab and in the others, which read the token from the cookie. */
function publish({ access_token, ...user }: UserInfo): void {
  show(user)
  tabs?.send(user)
  if (access_token) renewToken(access_token)
}

/** Saves the snapshot first: `boot.js` reads it as soon as `$user` changes. */
function show(user: UserInfo): void {
  const { features, permissions } = user
  environment().store(snapshotKey, JSON.stringify({ features, permissions }))
  $blocked.set(undefined)
  $user.set(user)
}
