import { usedFraction } from '../kit/Meter.tsx'
import { useWords } from '../kit/use-words.ts'

interface UsageBarProps {
  /** Name of the counted thing, for screen readers. */
  label: string
  used: number
  /** The limit. `null`: unlimited. */
  limit: number | null
  format: (value: number) => string
}

/** The bar has the color of a warning if at least this fraction of the limit is used. */
const nearlyUsed = 0.9

/** Shows how much of a limit is used, in words, and with a bar where there is a limit. */
export function UsageBar({ label, used, limit, format }: UsageBarProps) {
  const { t } = useWords()
  if (limit === null)
    return <span className="tabular">{t('admin.groups.unlimited', { used: format(used) })}</span>
  const words = t('admin.groups.of', { used: format(used), limit: format(limit) })
  const share = usedFraction(used, limit) ?? 0
  return (
    <span className="w-40 max-w-full flex-col gap-1.5 sm:flex">
      <span className="tabular">{words}</span>
      <progress
        className={`progress w-full ${share >= nearlyUsed ? 'progress-warning' : 'progress-secondary'}`}
        aria-label={label}
        aria-valuetext={words}
        max={1000}
        value={Math.round(share * 1000)}
      />
    </span>
  )
}
