import { shellTranslator } from '../kit/page.ts'
import { isUploading } from '../upload-progress/running-uploads.ts'

const pauseMs = 10_000
/** For this many milliseconds after `beforeunload`, the browser counts as opening another page. */
const leavingMs = 5000

/**
 * Reloads the page when a file of the build cannot be loaded. Reloads each path at most once in ten
 * seconds. While uploads run, shows a message with a reload button instead. If an import fails while
 * the browser opens another page, waits before reloading, because Firefox cancels imports then.
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

/** The time at which the browser last began to open another page, from `performance.now()`. */
let leftAt = Number.NEGATIVE_INFINITY

function isLeaving(): boolean {
  return performance.now() - leftAt < leavingMs
}

/**
 * Reloads the page, but not while the browser opens another page. In this case, checks again after
 * five seconds, because the page may have stayed open, for example if the person only started a
 * download.
 */
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

/**
 * Returns whether to reload a path: true at most once in ten seconds for each path. If true, stores
 * `now` (milliseconds since 1970) as the time of the last reload.
 */
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

/**
 * Returns whether an element needs a file that could not be loaded. Ignores preloads, because
 * Firefox reports errors even for preloads of files that it already has. If a preloaded file is
 * missing, its import fails later.
 */
function isLostElement(element: Element): boolean {
  if (element.matches('[rel=modulepreload]')) return false
  const address = element.getAttribute('src') ?? element.getAttribute('href')
  return address?.includes('/_astro/') === true
}
