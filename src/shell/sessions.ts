import { navigate } from 'astro:transitions/client'
import type { UserInfo } from '../contract/users.ts'
import { formatBytes, shortInitials } from '../core/format.ts'
import { buildRedirect, parseRedirect } from '../core/redirect.ts'
import { localizedPath } from '../i18n/index.ts'
import { ask } from './ask.ts'
import { isUploading, uploadsEnd } from './dock.ts'
import { onClick, onPage, pageLocale, pageWords } from './page.ts'

let user: UserInfo | undefined
let started = false

/** Who is signed in, what they see of themselves, and which pages are theirs. */
export function startSessions(): void {
  onPage(() => {
    void guard()
    leadPending()
    draw()
    // A visitor without a session needs none of the code that keeps one.
    if (isSignedIn()) void start()
  })
  // a sign-in that leaves the page where it is, as that of the first operator
  document.addEventListener('vidimus:changed', () => {
    if (isSignedIn()) void start()
  })
  onClick('[data-act=sign-out]', () => void leave())
}

async function start(): Promise<void> {
  if (started) return
  started = true
  const [sessions, users] = await Promise.all([
    import('../stores/sessions.ts'),
    import('../stores/users.ts')
  ])
  users.$user.subscribe(value => {
    user = value
    tell()
    draw()
    leadPending()
  })
  sessions.onSignIn(tell)
  sessions.onSignOut(departure => {
    tell()
    if (departure === 'ended') void guard('ended')
  })
  sessions.startSession()
  tell()
}

/** Lets `boot.js` read the cookie and the snapshot of the person anew. */
function tell(): void {
  document.dispatchEvent(new Event('vidimus:changed'))
}

/** The server knows no pages of persons: its API keeps what is theirs, this keeps the way short. */
async function guard(reason?: 'ended'): Promise<void> {
  const { guard } = document.body.dataset
  if (guard === 'signed-in' && !isSignedIn()) {
    const redirect = redirectHere()
    if (reason) redirect.set('reason', reason) // the sign-in page says it
    const target = `${localizedPath(pageLocale(), '/sign-in')}?${redirect}`
    void navigate(target, { history: 'replace' })
  }
  if (guard === 'signed-out' && isSignedIn()) {
    const wanted = new URLSearchParams(location.search).get('redirect') ?? ''
    const { isReturnable } = await import('../stores/routes.ts')
    const target = parseRedirect(wanted, location.origin, isReturnable)
    void navigate(target ?? localizedPath(pageLocale(), '/'), { history: 'replace' })
  }
}

/** Whose e-mail is not confirmed yet waits for its mail, and comes back from there. */
function leadPending(): void {
  if (!user?.pending || document.body.dataset['guard'] !== 'signed-in') return
  const target = `${localizedPath(pageLocale(), '/verify-account')}?${redirectHere()}`
  void navigate(target, { history: 'replace' })
}

function redirectHere(): URLSearchParams {
  const { pathname: path, search: query, hash } = location
  return new URLSearchParams({ redirect: buildRedirect({ path, query, hash }) })
}

async function leave(): Promise<void> {
  const t = pageWords()
  const question = {
    text: t('shell.leave.signOut'),
    go: t('shell.leave.signOutAnyway'),
    stay: t('shell.leave.stay'),
    until: uploadsEnd()
  }
  if (isUploading() && !(await ask(question))) return
  const { signOut } = await import('../stores/sessions.ts')
  await signOut()
  const { forgetUploads } = await import('../stores/upload-memory.ts')
  await forgetUploads()
  // In full, so that nothing of the person stays in memory.
  location.assign(localizedPath(pageLocale(), '/'))
}

function draw(): void {
  if (!user) return
  const t = pageWords()
  for (const element of document.querySelectorAll<HTMLElement>('[data-user]')) {
    const name = element.dataset['user']
    if (name === 'initials') element.textContent = shortInitials(user.initials)
    if (name === 'username' || name === 'email') element.textContent = user[name]
  }
  const { requests, storage } = user.usage_remaining
  const usage = document.querySelector<HTMLElement>('[data-usage]')
  if (!usage) return
  // nothing is theirs to use before the e-mail is confirmed
  usage.hidden = user.pending === true
  write('[data-usage-requests]', requestsLeft(requests))
  write(
    '[data-usage-storage]',
    storage === null
      ? t('shell.usage.storageUnlimited')
      : t('shell.usage.storage', { size: formatBytes(storage, pageLocale()) })
  )
}

function requestsLeft(requests: number | null): string {
  const t = pageWords()
  if (requests === null) return t('shell.usage.requestsUnlimited')
  return requests === 0
    ? t('shell.usage.requestsNone')
    : t('shell.usage.requests', { count: requests })
}

function write(selector: string, text: string): void {
  const element = document.querySelector(selector)
  if (element) element.textContent = text
}

function isSignedIn(): boolean {
  return document.documentElement.dataset['session'] === 'in'
}
