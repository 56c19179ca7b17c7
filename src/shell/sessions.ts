import type { UserInfo } from '../contract/users.ts'
import { checkGuard, isGuardName } from '../core/pages/page-guards.ts'
import { shortInitials } from '../core/text/initials.ts'
import { localizedPath } from '../i18n/index.ts'
import { onClick, onPage, pageLocale, pageWords } from './kit/page.ts'
import { isUploading, uploadsEnd } from './uploads/running-uploads.ts'

let user: UserInfo | undefined
let started = false
let drawUsage: (user: UserInfo) => void = () => {}

/** Who is signed in, what they see of themselves, and which pages are theirs. */
export function startSessions(): void {
  onPage(() => {
    void guard()
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
  try {
    await takeUp()
  } catch (cause) {
    // The next page tries again. Chromium remembers a lost file, so that a reload has to help, and
    // `reloadOnLostFiles` reloads each path once.
    started = false
    throw cause
  }
}

async function takeUp(): Promise<void> {
  const [sessions, users, usage] = await Promise.all([
    import('../stores/sessions.ts'),
    import('../stores/users.ts'),
    import('./drawer-usage.ts')
  ])
  drawUsage = usage.drawUsage
  users.$user.subscribe(value => {
    user = value
    tell()
    draw()
    // rights come with the person, and may go while a page is open
    if (['leave', 'confirm'].includes(answerOfPage())) void guard()
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
  const answer = answerOfPage()
  if (answer === 'stay') return
  // React fails at an island whose page goes while it begins.
  for (const island of document.querySelectorAll('astro-island[ssr]')) island.remove()
  const { redirectVisitor } = await import('./redirects.ts')
  await redirectVisitor(answer, reason)
}

function answerOfPage() {
  const { guard } = document.body.dataset
  if (!isGuardName(guard)) throw new Error(`Unknown guard: ${guard}`)
  return checkGuard(guard, {
    isSignedIn: isSignedIn(),
    isPending: user?.pending === true,
    permissions: user?.permissions
  })
}

async function leave(): Promise<void> {
  if (isUploading() && !(await mayStop())) return
  const { signOut } = await import('../stores/sessions.ts')
  await signOut()
  // In full, so that nothing of the person stays in memory.
  location.assign(localizedPath(pageLocale(), '/'))
}

async function mayStop(): Promise<boolean> {
  const { confirmInDialog } = await import('./kit/confirm-dialog.ts')
  const t = pageWords()
  return confirmInDialog({
    text: t('shell.leave.signOut'),
    go: t('shell.leave.signOutAnyway'),
    stay: t('shell.leave.stay'),
    until: uploadsEnd()
  })
}

function draw(): void {
  if (!user) return
  for (const element of document.querySelectorAll<HTMLElement>('[data-user]')) {
    const name = element.dataset['user']
    if (name === 'initials') element.textContent = shortInitials(user.initials)
    if (name === 'username' || name === 'email') element.textContent = user[name]
  }
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-admin]')) {
    link.href = localizedPath(pageLocale(), `/admin/${user.company.id}`)
  }
  drawUsage(user)
}

function isSignedIn(): boolean {
  return document.documentElement.dataset['session'] === 'in'
}
