import { formatBytes } from '../../core/text/format.ts'
import { languageTag } from '../../i18n/index.ts'
import { usedFraction } from '../kit/Meter.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface UsageBarProps {
  /** Deposits and verifications, or bytes. */
  usageKind: 'requests' | 'storage'
  used: number
  /** `null` means unlimited. */
  limit: number | null
}

const nearlyUsed = 0.9

export function UsageBar({ usageKind, used, limit }: UsageBarProps) {
  const { locale, t } = useTranslation()
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const format = (value: number) =>
    usageKind === 'requests' ? numbers.format(value) : formatBytes(value, locale)
  if (limit === null)
    return <span className="tabular">{t('admin.groups.unlimited', { used: format(used) })}</span>
  const words = t('admin.groups.of', { used: format(used), limit: format(limit) })
  const share = usedFraction(used, limit) ?? 0
  return (
    <span className="w-40 max-w-full flex-col gap-1.5 sm:flex">
      <span className="tabular">{words}</span>
      <progress
        className={`progress w-full ${share >= nearlyUsed ? 'progress-warning' : 'progress-secondary'}`}
        aria-label={t(`admin.groups.${usageKind}`)}
        aria-valuetext={words}
        max={1000}
        value={Math.round(share * 1000)}
      />
    </span>
  )
}
