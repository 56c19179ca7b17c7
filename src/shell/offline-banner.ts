import { dateTag } from '../core/text/date-tag.ts'
import { onThisAndLaterPages, shellTranslator } from './kit/page.ts'

/** Only informs: the upload queue and the event stream detect a lost network themselves. */
export function startOfflineBanner(): void {
  let since: Date | undefined
  const update = () => {
    since = navigator.onLine ? undefined : (since ?? new Date())
    show(since)
  }
  addEventListener('offline', update)
  addEventListener('online', update)
  onThisAndLaterPages(update)
}

function show(since: Date | undefined): void {
  const banner = document.getElementById('offline')
  if (!banner) return
  const time = since?.toLocaleTimeString(dateTag(document.documentElement.lang), {
    timeStyle: 'short'
  })
  // our typeface has no narrow space
  const words =
    time && shellTranslator()('shell.offline', { time: time.replaceAll('\u202f', '\u00a0') })
  banner.textContent = words ?? ''
}
