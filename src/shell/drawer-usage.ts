import type { OwnAccount } from '../contract/users.ts'
import { formatBytes } from '../core/text/format.ts'
import { pageLocale, shellTranslator } from './kit/page.ts'

export function showUsageInDrawer(user: OwnAccount): void {
  const { usage, usage_remaining } = user
  const { requests, storage } = usage_remaining
  const box = document.querySelector<HTMLElement>('[data-usage]')
  if (!box) return
  const t = shellTranslator()
  const bytes = (count: number) => formatBytes(count, pageLocale())
  // nothing can be used before the email is confirmed
  box.hidden = user.pending === true
  draw(box, 'requests', {
    left:
      requests === null
        ? t('shell.usage.requestsUnlimited')
        : requests === 0
          ? t('shell.usage.requestsNone')
          : t('shell.usage.requests', { count: requests }),
    used: usage?.requests_used,
    limit: usage?.requests_limit,
    words: (used, limit) =>
      limit === null
        ? t(used === 0 ? 'shell.usage.requestsNoneYet' : 'shell.usage.requestsSoFar', {
            count: used
          })
        : t('shell.usage.requestsUsed', { used, limit })
  })
  draw(box, 'storage', {
    left:
      storage === null
        ? t('shell.usage.storageUnlimited')
        : t('shell.usage.storage', { size: formatBytes(storage, pageLocale()) }),
    used: usage?.storage_used,
    limit: usage?.storage_limit,
    words: (used, limit) =>
      limit === null
        ? t('shell.usage.storageSoFar', { used: bytes(used) })
        : t('shell.usage.storageUsed', {
            used: bytes(used),
            limit: formatBytes(limit, pageLocale())
          })
  })
}

interface Meter {
  left: string
  /** Undefined if the API is of an older release that does not return it. */
  used: number | undefined
  /** `null` means unlimited. Undefined as above. */
  limit: number | null | undefined
  words: (used: number, limit: number | null) => string
}

function draw(box: HTMLElement, name: string, { left, used, limit, words }: Meter): void {
  const [text, bar, rest] = box.querySelector(`[data-meter=${name}]`)?.children ?? []
  if (!text || !rest || !(bar instanceof HTMLProgressElement)) return
  text.textContent = used === undefined || limit === undefined ? '' : words(used, limit)
  rest.textContent = left
  bar.hidden = used === undefined || typeof limit !== 'number'
  if (used === undefined || typeof limit !== 'number') return
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  bar.value = Math.round(share * 1000)
  bar.classList.toggle('progress-warning', share >= 0.9)
  bar.classList.toggle('progress-secondary', share < 0.9)
}
