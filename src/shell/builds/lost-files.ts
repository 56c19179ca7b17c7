import { pageWords } from '../kit/page.ts'
import { isUploading } from '../uploads/running-uploads.ts'

const pauseMs = 10_000

/**
 * A file of the build that cannot be loaded, or a page that something else has rearranged, is cured by
 * a reload: at most one in ten seconds on a path, and never over running uploads.
 */
export function reloadOnLostFiles(): void {
  addEventListener('vite:preloadError', reloadOnce)
  // by then an island has tried twice, and no other event reports it
  addEventListener('astro:hydration-error', event => {
    if (event instanceof CustomEvent && isLostFile(String(event.detail.error))) reloadOnce()
  })
  addEventListener('unhandledrejection', event => {
    if (isLostFile(String(event.reason)) || isForeignChange(event.reason)) reloadOnce()
  })
  addEventListener(
    'error',
    event => {
      if (event.target instanceof Element && isLostElement(event.target)) reloadOnce()
      if (event instanceof ErrorEvent && isForeignChange(event.error)) reloadOnce()
    },
    { capture: true } // errors of elements do not bubble
  )
}

function reloadOnce(): void {
  // offline, a reload would lose the page as well
  if (!navigator.onLine) return
  if (!mayReload(location.pathname, Date.now(), sessionStorage)) return
  if (isUploading()) void offerReload()
  else location.reload()
}

async function offerReload(): Promise<void> {
  const { toast } = await import('../kit/toasts.ts')
  const t = pageWords()
  const action = { label: t('shell.version.reload'), run: () => location.reload() }
  toast(t('shell.version.ready'), action)
}

/** Returns true at most once in ten seconds for a path. */
export function mayReload(
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
 * Translation tools of browsers move nodes that React believes its own. Safari names the method in the
 * stack only.
 */
export function isForeignChange(error: unknown): boolean {
  if (!(error instanceof DOMException) || error.name !== 'NotFoundError') return false
  return `${error.message} ${error.stack}`.includes('insertBefore')
}

/**
 * Preloads do not count: where the file is needed, its import fails as well, and Firefox tells an error
 * of every preload whose file it has already.
 */
function isLostElement(element: Element): boolean {
  if (element.matches('[rel=modulepreload]')) return false
  const address = element.getAttribute('src') ?? element.getAttribute('href')
  return address?.includes('/_astro/') === true
}
