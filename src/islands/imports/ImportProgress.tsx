import { formatPercent } from '../../core/text/format.ts'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface ImportProgressProps {
  label: string
  done: number
  total: number
}

export function ImportProgress({ label, done, total }: ImportProgressProps) {
  const { locale, t } = useTranslation()
  const share = total > 0 ? done / total : 0
  const quarter = Math.floor(share * 4) / 4
  return (
    <div className="flex flex-col gap-2">
      <p className="meta">
        {label}
        {' · '}
        {t('imports.wizard.check.sent', { done, total })}
      </p>
      <ProgressBar label={label} ratio={share} />
      <p role="status" className="sr-only">
        {label}
        {quarter > 0 &&
          ` ${t('imports.wizard.run.progress', { share: formatPercent(quarter, locale) })}`}
      </p>
    </div>
  )
}
