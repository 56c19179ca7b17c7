import { localizedPath } from '../../i18n/index.ts'
import { CopyButton } from './CopyButton.tsx'
import { useTranslation } from './use-translation.ts'

interface VerificationPageAddressProps {
  /** Undefined where it is unknown. */
  visibilities: readonly (string | undefined)[]
}

/** The page must pass the translations `files.handOver` to the island. */
export function VerificationPageAddress({ visibilities }: VerificationPageAddressProps) {
  const { locale, t } = useTranslation()
  const address = location.origin + localizedPath(locale, '/verify')
  const audience = audienceOf(visibilities)
  return (
    <div className="flex flex-col items-start gap-1 text-sm">
      <h3 className="font-semibold">{t('files.handOver.title')}</h3>
      <p>{t(`files.handOver.${audience}`)}</p>
      {audience !== 'nobody' && (
        <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
          <span className="wrap-anywhere font-medium">{address}</span>
          <CopyButton text={address} label={t('files.handOver.copy')} />
        </p>
      )}
    </div>
  )
}

const audiences: Record<string, 'everyone' | 'members' | 'nobody'> = {
  public: 'everyone',
  private: 'members',
  receipt_only: 'nobody'
}

// `varies`: it differs, or is unknown
function audienceOf(visibilities: VerificationPageAddressProps['visibilities']) {
  const [first, ...others] = new Set(visibilities)
  return others.length > 0 ? 'varies' : (audiences[first ?? ''] ?? 'varies')
}
