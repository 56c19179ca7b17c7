import type { OwnAccount } from '../contract/users.ts'
import { checkGuard, isGuardName } from '../core/pages/page-guards.ts'
import { shortInitials } from '../core/text/initials.ts'
import { type Locale, localizedPath } from '../i18n/index.ts'
import {
  isSignedIn,
  onClick,
  onEachPage,
  pageLocale,
  runInBackground,
  runOnce,
  shellTranslator
} from './kit/page.ts'
import { followLanguage } from './languages.ts'
import { isUploading, waitForUploads } from './upload-progress/running-uploads.ts'

let user: OwnAccount | undefined
let localeToFollow: () => Locale | undefined = () => undefined
let drawUsage: (user: OwnAccount) => void = () => {}

export function startSessionAndPageGuard(): void {
  // Where the file cannot be loaded, the next page tries again. Older releases of Chromium remember
  // the failure until a reload, and `reloadOnMissingBuildFiles` reloads each path once.
  const start = runOnce(watchSession)
  onEachPage(() => {
    runInBackground(guard)
    draw()
    follow()
    // a visitor without a session needs none of this code
    if (isSignedIn()) runInBackground(start)
  })
  // signing in does not always open another page, for instance in the setup
  document.addEventListener('vidimus:changed', () => {
    if (isSignedIn()) runInBackground(start)
  })
  onClick('[data-act=sign-out]', () => void signOut())
}

async function watchSession(): Promise<void> {
  const [sessions, users, usage] = await Promise.all([
    import('../stores/sessions.ts'),
    import('../stores/signed-in-user.ts'),
    import('./drawer-usage.ts')
  ])
  drawUsage = usage.showUsageInDrawer
  localeToFollow = users.localeToFollow
  users.$user.subscribe(value => {
    user = value
    applySession()
    draw()
    follow()
    // permissions are part of the person, and may change while a page is open
    if (['leave', 'confirm'].includes(answerOfPage())) void guard()
  })
  sessions.addSessionStartListener(applySession)
  sessions.addSessionEndListener(departure => {
    applySession()
    if (departure === 'ended') void guard('ended')
  })
  sessions.restoreSession()
  applySession()
}

// `boot.js` marks the page as signed in or out, and shows the person's menu entries
function applySession(): void {
  document.dispatchEvent(new Event('vidimus:changed'))
}

// protects no data, because the API itself checks each call
async function guard(reason?: 'ended'): Promise<void> {
  const answer = answerOfPage()
  if (answer === 'stay') return
  // what has not hydrated yet would load what the visitor may not see
  for (const island of document.querySelectorAll('astro-island[ssr]')) island.remove()
  const { redirectVisitor } = await import('./redirects.ts')
  await redirectVisitor(answer, reason)
}

// unless another page is about to open
function follow(): void {
  if (answerOfPage() === 'stay') runInBackground(() => followLanguage(localeToFollow()))
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

async function signOut(): Promise<void> {
  if (isUploading() && !(await mayEndUploads())) return
  const sessions = await import('../stores/sessions.ts')
  await sessions.signOut()
  // loads a new document, so that no data of the person stays in memory
  location.assign(localizedPath(pageLocale(), '/'))
}

async function mayEndUploads(): Promise<boolean> {
  const { confirmInDialog } = await import('./kit/confirm-dialog.ts')
  const t = shellTranslator()
  return confirmInDialog({
    text: t('shell.leave.signOut'),
    go: t('shell.leave.signOutAnyway'),
    stay: t('shell.leave.stay'),
    until: waitForUploads()
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
