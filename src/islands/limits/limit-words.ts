import { formatBytes } from '../../core/text/format.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import type { GroupLimits } from './LimitFields.tsx'

/** `7 documents per day`, « 7 documents par jour » */
export function describeRequestLimit(
  limits: Pick<GroupLimits, 'max_requests' | 'max_requests_interval'>,
  t: Translate
): string {
  const { max_requests, max_requests_interval } = limits
  if (max_requests === null) return t('limits.unlimited')
  return t(`limits.of.${max_requests_interval ?? 'total'}`, { count: max_requests })
}

/** `2.5 GB`, « 2,5 Go » */
export function describeStorageLimit(
  max_storage: number | null,
  locale: Locale,
  t: Translate
): string {
  return max_storage === null ? t('limits.unlimited') : formatBytes(max_storage, locale)
}
