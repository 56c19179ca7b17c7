import { useEffect, useState } from 'react'
import type { DomainDetails } from '../../contract/domains.ts'
import { Icon } from '../kit/Icon.tsx'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface GoLiveStepProps {
  domain: DomainDetails
  toCheck: () => void
  onDone: () => void
}

export function GoLiveStep({ domain, toCheck, onDone }: GoLiveStepProps) {
  const { t } = useTranslation()
  const { host, state } = domain
  const origin = useOrigin(host)
  const isServed = state === 'verified' || state === 'failing'
  const isWildcard = host.startsWith('*.')
  return (
    <Section id="domain-live" title={t('domains.live.title')}>
      <p className="flex items-start gap-3">
        <Icon
          name={isServed ? 'check' : 'dashed'}
          className={`size-6 ${isServed ? 'text-success' : 'text-ink-soft'}`}
        />
        <span className="wrap-anywhere min-w-0">
          {t(isServed ? 'domains.live.served' : 'domains.live.waiting', { host })}
        </span>
      </p>
      <p>{t(domain.public ? 'domains.settings.open.note' : 'domains.settings.invited.note')}</p>
      {isServed && <p className="text-ink-soft">{t('domains.live.certificate')}</p>}
      <div className="flex flex-wrap gap-4">
        {isServed && !isWildcard && origin && (
          <a className="btn btn-primary" href={origin} target="_blank" rel="noreferrer">
            {t('domains.live.open', { host })}
          </a>
        )}
        {!isServed && (
          <button type="button" className="btn btn-primary" onClick={toCheck}>
            {t('domains.live.toCheck')}
          </button>
        )}
        <button type="button" className="btn btn-outline" onClick={onDone}>
          {t('domains.live.settings')}
        </button>
      </div>
    </Section>
  )
}

function useOrigin(host: string): string | undefined {
  const [origin, setOrigin] = useState<string>()
  useEffect(() => {
    setOrigin(`${location.protocol}//${host}${location.port && `:${location.port}`}`)
  }, [host])
  return origin
}
