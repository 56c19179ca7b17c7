import type { RegisterImport } from '../../contract/register-imports.ts'
import { formatPercent } from '../../core/text/format.ts'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useTranslation } from '../kit/use-translation.ts'

/** How far the service has read a file, or compared its rows with the list. */
export function RegisterProgress({ item }: { item: RegisterImport }) {
  const { locale, t } = useTranslation()
  const { progress, rows } = item
  const label = t(`registerImports.progress.${progress?.step ?? 'reading'}`)
  const share = progress?.share ?? 0
  const quarter = Math.floor(share * 4) / 4
  return (
    <div className="flex flex-col gap-2">
      <p className="meta tabular">
        {label}
        {progress && ` · ${formatPercent(share, locale)}`}
        {rows > 0 && ` · ${t('registerImports.rows', { count: rows })}`}
      </p>
      <ProgressBar label={label} ratio={progress ? share : undefined} />
      <p role="status" className="sr-only">
        {label} {quarter > 0 && formatPercent(quarter, locale)}
      </p>
      <p className="text-ink-soft">{t('registerImports.progress.leave')}</p>
    </div>
  )
}
