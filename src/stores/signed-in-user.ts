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
 * Storage key of the features, permissions and language of the person. `boot.js` reads them before
 * the first paint, to show the right entries of the menu and the right language.
 */
const snapshotKey = 'vidimus:user'

/**
 * Whether the person has just signed in. The page that opens next is in their language, so the
 * present page need not change.
 */
let isArriving = false
/** Number of changes to the account that this tab has made. */
let changes = 0
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
  if ($session.get().status !== 'in') return
  await change({ locale })
  forgetPickedLanguage(locale)
}

/**
 * Returns the person's language: the one that they picked in this browser and that is not saved
 * yet, or else that of their account. Undefined while the person is unknown or has no language.
 */
export function localeOfPerson(): Locale | undefined {
  const user = $user.get()
  const locale = user && (pickedLanguage() ?? user.locale)
  return isLocale(locale) ? locale : undefined
}

/** Returns the language that the present page should have. Undefined if it need not change. */
export function localeToFollow(): Locale | undefined {
  return isArriving ? undefined : localeOfPerson()
}

/** Changes the name of the signed-in person. */
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

/**
 * Gives account and browser the same language. The account gets the language that was picked in
 * this browser, or, if it has none, that of the page. The shell then shows the page in it.
 */
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

/**
 * Loads the data of the signed-in person now. If the API refuses because the account or the company
 * is disabled, sets `$disabledState`. Ignores every other error, because the next periodic load
 * tries again.
 */
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
 * Returns the data of the signed-in person as the server has it now, and shows nothing of it: the
 * page keeps its language in the middle of what the person does.
 */
export async function fetchOwnAccount(): Promise<OwnAccount> {
  const session = sessionGeneration()
  const user = await api('getOwnAccount', {})
  if (session === sessionGeneration()) renew(user)
  return user
}

/**
 * Shows new data of the person. The leading tab also sends the data to the other tabs. A new token
 * is not sent, because the other tabs read it from the cookie.
 */
function publish({ access_token, ...user }: OwnAccount): void {
  show(user)
  tabs?.send(user)
  renew({ access_token })
}

function renew({ access_token }: Pick<OwnAccount, 'access_token'>): void {
  if (access_token) replaceToken(access_token)
}

/**
 * Shows the data of the person. Stores what `boot.js` reads before it sets `$user`, because
 * `boot.js` reads it as soon as `$user` changes.
 */
function show(user: OwnAccount): void {
  const { features, permissions, locale } = user
  browserEnvironment().store(snapshotKey, JSON.stringify({ features, permissions, locale }))
  $disabledState.set(undefined)
  $user.set(user)
}
