import type { DisabledState } from '../contract/kit/disabled.ts'
import { AppError } from '../contract/kit/errors.ts'
import type { OwnAccount } from '../contract/users.ts'
import { isLocale, type Locale } from '../i18n/index.ts'
import { browserEnvironment, pageLocale } from './environment.ts'
import { saveLanguageCookie } from './language-cookie.ts'
import { personalAtom } from './personal-atoms.ts'
import { forgetPickedLanguage, pickedLanguage } from './picked-language.ts'
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

/** Undefined while nobody is signed in, and until the API has answered. */
export const $user = personalAtom<OwnAccount | undefined>(undefined)

/** Set when the API refuses the person, because their account or the whole company is disabled. */
export const $disabledState = personalAtom<DisabledState | undefined>(undefined)

const refreshMs = 30_000
// `boot.js` reads features, permissions and language before the first paint
const snapshotKey = 'vidimus:user'

// the page that opens after signing in is in the person's language, so this one need not change
let isArriving = false
let changes = 0
let tabs: TabGroupMembership | undefined
let isLeading = false
let stopTimer: () => void = () => {}
let stopWake: () => void = () => {}

addSessionStartListener(begin)
addSessionEndListener(end)

/** `name`: `deposit`, `admin` */
export function hasFeatureOrPermission(name: string): boolean {
  const user = $user.get()
  return user !== undefined && (user.features.includes(name) || user.permissions.includes(name))
}

export async function saveLanguageToAccount(locale: Locale): Promise<void> {
  if ($session.get().status !== 'in') return
  await change({ locale })
  forgetPickedLanguage(locale)
}

/**
 * The language that the person picked in this browser and that is not saved yet, or else that of
 * their account.
 */
export function localeOfPerson(): Locale | undefined {
  const user = $user.get()
  const locale = user && (pickedLanguage() ?? user.locale)
  return isLocale(locale) ? locale : undefined
}

/** Undefined if the page need not change. */
export function localeToFollow(): Locale | undefined {
  return isArriving ? undefined : localeOfPerson()
}

export async function changeUsername(username: string): Promise<void> {
  await change({ username })
}

async function change(fields: { locale: Locale } | { username: string }): Promise<void> {
  const session = sessionGeneration()
  const user = await api('updateOwnAccount', fields)
  changes += 1
  if (session === sessionGeneration()) publish(user)
}

async function begin(start: SessionStart): Promise<void> {
  isArriving = start === 'signed-in'
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
  if (!user.success || session !== sessionGeneration()) return
  isArriving = false
  show(user.data)
}

function end(): void {
  tabs?.leave()
  tabs = undefined
  stopWake()
  browserEnvironment().store(snapshotKey, undefined)
}

// an account without a language gets that of the page
async function settleLocale({ locale }: OwnAccount): Promise<void> {
  const wanted = localeOfPerson() ?? pageLocale()
  saveLanguageCookie(wanted)
  // the next load tries again
  if (wanted !== locale) await saveLanguageToAccount(wanted).catch(() => {})
  else forgetPickedLanguage(wanted)
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
  isArriving = false
  void refreshUser()
}

/** Ignores errors other than a disabled account or company: the next periodic load tries again. */
export async function refreshUser(): Promise<void> {
  if (isLeading) scheduleRefresh()
  const session = sessionGeneration()
  const asked = changes
  try {
    const user = await api('getOwnAccount', {})
    if (session !== sessionGeneration()) return
    // what was read before a change must not undo it on the page
    if (asked !== changes) return renew(user)
    publish(user)
    await settleLocale(user)
  } catch (error) {
    if (session === sessionGeneration() && error instanceof AppError && error.disabled)
      $disabledState.set(error.disabled)
  }
}

/**
 * Shows nothing of the answer: the page keeps its language in the middle of what the person does.
 */
export async function fetchOwnAccount(): Promise<OwnAccount> {
  const session = sessionGeneration()
  const user = await api('getOwnAccount', {})
  if (session === sessionGeneration()) renew(user)
  return user
}

// the other tabs read a new token from the cookie
function publish({ access_token, ...user }: OwnAccount): void {
  show(user)
  tabs?.send(user)
  renew({ access_token })
}

function renew({ access_token }: Pick<OwnAccount, 'access_token'>): void {
  if (access_token) replaceToken(access_token)
}

// `boot.js` reads what is stored as soon as `$user` changes
function show(user: OwnAccount): void {
  const { features, permissions, locale } = user
  browserEnvironment().store(snapshotKey, JSON.stringify({ features, permissions, locale }))
  $disabledState.set(undefined)
  $user.set(user)
}
