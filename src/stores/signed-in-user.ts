import type { DisabledState } from '../contract/kit/disabled.ts'
import { AppError } from '../contract/kit/errors.ts'
import type { OwnAccount } from '../contract/users.ts'
import type { Locale } from '../i18n/index.ts'
import { browserEnvironment, pageLocale } from './environment.ts'
import { saveLanguageCookie } from './language-cookie.ts'
import { personalAtom } from './personal-atoms.ts'
import {
  $session,
  addSessionEndListener,
  addSessionStartListener,
  api,
  replaceToken,
  type SessionStart,
  sessionGeneration,
  userLockOrChannelName
} from './sessions.ts'
import { joinTabGroup, type TabGroupMembership } from './tab-leader.ts'

/**
 * The person who is signed in. Undefined while nobody is signed in, and until the API has answered.
 */
export const $user = personalAtom<OwnAccount | undefined>(undefined)

/**
 * Why the API refuses the person: their account, or the whole company, is disabled. Undefined if
 * the API has not refused them.
 */
export const $disabledState = personalAtom<DisabledState | undefined>(undefined)

const refreshMs = 30_000
/**
 * Storage key of the features and permissions of the person. `boot.js` reads them before the first
 * paint, to show the right entries of the menu.
 */
const snapshotKey = 'vidimus:user'

/**
 * How the session began. `settleLocale()` sets it to undefined, so that it compares the languages
 * of page and account only once.
 */
let sessionStart: SessionStart | undefined
let tabs: TabGroupMembership | undefined
let isLeading = false
let stopTimer: () => void = () => {}
let stopWake: () => void = () => {}

addSessionStartListener(begin)
addSessionEndListener(end)

/** Returns whether the person has the feature or permission `name`: `deposit`, `admin`. */
export function hasFeatureOrPermission(name: string): boolean {
  const user = $user.get()
  return user !== undefined && (user.features.includes(name) || user.permissions.includes(name))
}

/** Saves the language in the person's account. Does nothing if nobody is signed in. */
export async function saveLanguageToAccount(locale: Locale): Promise<void> {
  if ($session.get().status === 'in') await change({ locale })
}

/** Changes the name of the signed-in person. */
export async function changeUsername(username: string): Promise<void> {
  await change({ username })
}

async function change(fields: { locale: Locale } | { username: string }): Promise<void> {
  const session = sessionGeneration()
  const user = await api('updateOwnAccount', fields)
  if (session === sessionGeneration()) publish(user)
}

async function begin(start: SessionStart): Promise<void> {
  sessionStart = start
  tabs = joinTabGroup({
    name: userLockOrChannelName('user'),
    environment: browserEnvironment(),
    lead,
    follow: () => {},
    onNews: news => void showNews(news),
    snapshot: () => $user.get()
  })
  stopWake = browserEnvironment().onWake(() => {
    if (isLeading) refreshNow()
  })
  await refreshUser()
}

async function showNews(news: unknown): Promise<void> {
  const session = sessionGeneration()
  const { OwnAccount } = await import('../contract/users.ts')
  const user = OwnAccount.safeParse(news)
  if (user.success && session === sessionGeneration()) show(user.data)
}

function end(): void {
  tabs?.leave()
  tabs = undefined
  stopWake()
  browserEnvironment().store(snapshotKey, undefined)
}

/**
 * Makes the page and the account use the same language, once per session. The page switches to the
 * language of the account. An account without a language gets that of the page.
 */
async function settleLocale(user: OwnAccount): Promise<void> {
  const start = sessionStart
  sessionStart = undefined
  if (!start) return
  if (user.locale === 'und') await saveLanguageToAccount(pageLocale()).catch(() => {})
  else if (user.locale !== pageLocale()) switchLanguage(user.locale, start)
}

/**
 * Saves the language in a cookie. In a restored session, also reloads the page in this language.
 * After a sign-in, another page opens anyway.
 */
function switchLanguage(locale: Locale, start: SessionStart): void {
  const address = saveLanguageCookie(locale)
  if (start === 'restored') browserEnvironment().replacePage(address)
}

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
  stopTimer = browserEnvironment().after(refreshMs, refreshNow)
}

function refreshNow(): void {
  void refreshUser()
}

/**
 * Loads the data of the signed-in person now. If the API refuses because the account or the company
 * is disabled, sets `$disabledState`. Ignores every other error, because the next periodic load
 * tries again.
 */
export async function refreshUser(): Promise<void> {
  if (isLeading) scheduleRefresh()
  const session = sessionGeneration()
  try {
    const user = await api('getOwnAccount', {})
    if (session !== sessionGeneration()) return
    publish(user)
    await settleLocale(user)
  } catch (error) {
    if (session === sessionGeneration() && error instanceof AppError && error.disabled)
      $disabledState.set(error.disabled)
  }
}

/**
 * Shows new data of the person. The leading tab also sends the data to the other tabs. A new token
 * is not sent, because the other tabs read it from the cookie.
 */
function publish({ access_token, ...user }: OwnAccount): void {
  show(user)
  tabs?.send(user)
  if (access_token) replaceToken(access_token)
}

/**
 * Shows the data of the person. Stores features and permissions before it sets `$user`, because
 * `boot.js` reads them as soon as `$user` changes.
 */
function show(user: OwnAccount): void {
  const { features, permissions } = user
  browserEnvironment().store(snapshotKey, JSON.stringify({ features, permissions }))
  $disabledState.set(undefined)
  $user.set(user)
}
