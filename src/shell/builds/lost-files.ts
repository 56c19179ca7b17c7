import { shellTranslator } from '../kit/page.ts'
import { isUploading } from '../upload-progress/running-uploads.ts'

const pauseMs = 10_000
// so long after `beforeunload` the browser counts as opening another page
const leavingMs = 5000

/**
 * Reloads each path at most once in ten seconds, and asks first while uploads run. Waits while the
 * browser opens another page, because Firefox cancels imports then.
 */
export function reloadOnMissingBuildFiles(): void {
  addEventListener('beforeunload', () => {
    leftAt = performance.now()
  })
  addEventListener('vite:preloadError', reloadUnlessLeaving)
  // by then an island has tried twice to load its file, and no other event reports the failure
  addEventListener('astro:hydration-error', event => {
    if (event instanceof CustomEvent && isLostFile(String(event.detail.error)))
      reloadUnlessLeaving()
  })
  addEventListener('unhandledrejection', event => {
    if (!isLostFile(String(event.reason))) return
    if (isLeaving()) event.preventDefault()
    reloadUnlessLeaving()
  })
  addEventListener(
    'error',
    event => {
      if (event.target instanceof Element && isLostElement(event.target)) reloadOnce()
    },
    { capture: true } // errors of elements do not bubble
  )
}

let leftAt = Number.NEGATIVE_INFINITY

function isLeaving(): boolean {
  return performance.now() - leftAt < leavingMs
}

// the page may stay open after `beforeunload`, for example if the person only started a download
function reloadUnlessLeaving(): void {
  if (isLeaving()) setTimeout(reloadUnlessLeaving, leavingMs)
  else reloadOnce()
}

function reloadOnce(): void {
  // offline, a reload would lose the page as well
  if (!navigator.onLine) return
  if (!recordReloadIfAllowed(location.pathname, Date.now(), sessionStorage)) return
  if (isUploading()) void offerReload()
  else location.reload()
}

async function offerReload(): Promise<void> {
  const { showToast } = await import('../kit/toasts.ts')
  const t = shellTranslator()
  const action = { label: t('shell.version.reload'), run: () => location.reload() }
  showToast(t('shell.version.ready'), action)
}

/** True at most once in ten seconds for each path. `now` is in milliseconds since 1970. */
export function recordReloadIfAllowed(
  path: string,
  now: number,
  storage: Pick<Storage, 'getItem' | 'setItem'>
): boolean {
  const key = `vidimus:reload:${path}`
  if (now - Number(storage.getItem(key) ?? 0) < pauseMs) return false
  storage.setItem(key, String(now))
  return true
}

function isLostFile(message: string): boolean {
  return /dynamically imported module|importing a module script failed/i.test(message)
}

// Firefox reports errors even for preloads of files that it already has; the import of a missing
// file fails later
function isLostElement(element: Element): boolean {
  if (element.matches('[rel=modulepreload]')) return false
  const address = element.getAttribute('src') ?? element.getAttribute('href')
  return address?.includes('/_astro/') === true
}
