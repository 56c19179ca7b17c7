import { localizedPath } from '../../i18n/index.ts'
import { CopyButton } from './CopyButton.tsx'
import { useTranslation } from './use-translation.ts'

/**
 * Shows the address of the verify page, which the person can send to others who want to verify a
 * document. The page must pass the translations `common` to the island.
 */
export function VerificationPageAddress() {
  const { locale, t } = useTranslation()
  const address = location.origin + localizedPath(locale, '/verify')
  return (
    <div className="flex flex-col items-start gap-1 text-sm">
      <h3 className="font-semibold">{t('common.handOver.title')}</h3>
      <p>{t('common.handOver.text')}</p>
      <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="wrap-anywhere font-medium">{address}</span>
        <CopyButton text={address} label={t('common.handOver.copy')} />
      </p>
    </div>
  )
}
