import { onThisPageAndNext, pageWords } from './kit/page.ts'

/** Since when nothing new can have arrived. */
let since: Date | undefined

/** Says that the device has no network, and of when the page is; the queue and the stream wait by themselves. */
export function startOfflineBanner(): void {
  addEventListener('offline', tell)
  addEventListener('online', tell)
  onThisPageAndNext(tell)
}

function tell(): void {
  since = navigator.onLine ? undefined : (since ?? new Date())
  const banner = document.getElementById('offline')
  if (!banner) return
  const time = since?.toLocaleTimeString(document.documentElement.lang, { timeStyle: 'short' })
  // our typeface has no narrow space
  const words = time && pageWords()('shell.offline', { time: time.replaceAll('\u202f', '\u00a0') })
  banner.textContent = words ?? ''
}
