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
  sharedName
} from './sessions.ts'
import { joinTabGroup, type TabGroup } from './tab-leader.ts'

/** Who is signed in; nothing while signed out and until the first answer. */
export const $user = atom<UserInfo | undefined>(undefined)

/** Why the API will not say who is signed in: the person, or the whole company, is switched off. */
export const $blocked = atom<Disabled | undefined>(undefined)

const refreshMs = 30_000
/** What `boot.js` reads before the first paint, so that the right entries of the drawer show. */
const snapshotKey = 'vidimus:user'

/** Counts sessions, so that an answer of an ended one is dropped. */
let visit = 0
/** How the present session began, until its language has been settled. */
let unsettled: SessionStart | undefined
/** The tabs of this person, of which one asks for all. */
let team: TabGroup | undefined
let isLeading = false
let stopBeat: () => void = () => {}
let stopWake: () => void = () => {}

onSignIn(begin)
onSignOut(end)

/** Whether the person has a feature or permission of this name: `deposit`, `admin`. */
export function can(name: string): boolean {
  const user = $user.get()
  return user !== undefined && (user.features.includes(name) || user.permissions.includes(name))
}

/** Saves the language of a signed-in person; signed out there is nobody to save it for. */
export async function changeLocale(locale: Locale): Promise<void> {
  if ($session.get().status === 'in') await change({ locale })
}

/** Gives the person another name. */
export async function rename(username: string): Promise<void> {
  await change({ username })
}

/** Whose session has ended meanwhile is not shown again. */
async function change(fields: { locale: Locale } | { username: string }): Promise<void> {
  const mine = visit
  const user = await api('updateUser', fields)
  if (mine === visit) take(user)
}

async function begin(arrival: SessionStart): Promise<void> {
  unsettled = arrival
  team = joinTabGroup({
    name: sharedName('user'),
    environment: environment(),
    lead,
    follow: () => {},
    onNews: news => void hear(news),
    greeting: () => $user.get()
  })
  stopWake = environment().onWake(() => {
    if (isLeading) refreshNow()
  })
  await refresh()
}

/** What the leader has learned. */
async function hear(news: unknown): Promise<void> {
  const mine = visit
  const { UserInfo } = await import('../contract/users.ts')
  const user = UserInfo.safeParse(news)
  if (user.success && mine === visit) show(user.data)
}

function end(): void {
  visit += 1
  team?.leave()
  team = undefined
  stopWake()
  environment().store(snapshotKey, undefined)
  $user.set(undefined)
  $blocked.set(undefined)
}

/** Once per session: the person's language replaces the page's, or becomes it. */
async function settleLocale(user: UserInfo): Promise<void> {
  const arrival = unsettled
  unsettled = undefined
  if (!arrival) return
  if (user.locale === 'und') await changeLocale(pageLocale()).catch(() => {})
  else if (user.locale !== pageLocale()) speak(user.locale, arrival)
}

/** A sign-in screen leaves for its target anyway, and does so in the person's language. */
function speak(locale: Locale, arrival: SessionStart): void {
  const address = rememberLanguage(locale)
  if (arrival === 'restored') environment().replacePage(address)
}

/** Asks every 30 seconds, for the other tabs too. */
function lead(): () => void {
  isLeading = true
  beat()
  return () => {
    isLeading = false
    stopBeat()
  }
}

function beat(): void {
  stopBeat()
  stopBeat = environment().after(refreshMs, refreshNow)
}

function refreshNow(): void {
  void refresh()
}

/** Asks now. A failure is tried again with the next beat; `api` has heeded what it means. */
export async function refresh(): Promise<void> {
  if (isLeading) beat()
  const mine = visit
  try {
    const user = await api('getUser', {})
    if (mine !== visit) return
    take(user)
    await settleLocale(user)
  } catch (error) {
    if (mine === visit && error instanceof AppError && error.disabled) $blocked.set(error.disabled)
  }
}

/** What the API has said. The leader passes it on, but for the token, which all find in the cookie. */
function take({ access_token, ...user }: UserInfo): void {
  show(user)
  team?.say(user)
  if (access_token) renewToken(access_token)
}

/** The snapshot first: `boot.js` reads it as soon as the person is told. */
function show(user: UserInfo): void {
  const { features, permissions } = user
  environment().store(snapshotKey, JSON.stringify({ features, permissions }))
  $blocked.set(undefined)
  $user.set(user)
}
