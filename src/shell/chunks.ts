import { isUploading } from './dock.ts'
import { pageWords } from './page.ts'
import { toast } from './toasts.ts'

const pauseMs = 10_000

/**
 * A file of the build that cannot be loaded, or a page that something else has rearranged, is cured by
 * a reload: at most one in ten seconds on a path, and never over running uploads.
 */
export function guardAgainstLostFiles(): void {
  addEventListener('vite:preloadError', reloadOnce)
  addEventListener('unhandledrejection', event => {
    if (isLostFile(String(event.reason))) reloadOnce()
  })
  addEventListener(
    'error',
    event => {
      const source = event.target instanceof Element ? addressOf(event.target) : undefined
      if (source?.includes('/_astro/') || isForeignChange(event)) reloadOnce()
    },
    { capture: true } // errors of elements do not bubble
  )
}

function reloadOnce(): void {
  // without a connection a reload would lose the page as well
  if (!navigator.onLine) return
  if (!mayReload(location.pathname, Date.now(), sessionStorage)) return
  const reload = () => location.reload()
  const t = pageWords()
  if (isUploading())
    toast(t('shell.version.ready'), { label: t('shell.version.reload'), run: reload })
  else reload()
}

/** Answers true once in ten seconds for a path, and remembers it. */
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

/** Translation tools of browsers move nodes that React believes its own. */
function isForeignChange(event: Event): boolean {
  return (
    event instanceof ErrorEvent &&
    event.error instanceof DOMException &&
    event.error.name === 'NotFoundError' &&
    event.error.message.includes('insertBefore')
  )
}

function addressOf(element: Element): string | null {
  return element.getAttribute('src') ?? element.getAttribute('href')
}
