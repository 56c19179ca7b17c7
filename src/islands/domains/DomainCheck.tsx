import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { DomainDetails } from '../../contract/domains.ts'
import type { AppError } from '../../contract/kit/errors.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { checkDomain } from '../../stores/admin/domains.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useNow } from '../kit/time.ts'
import { useAction } from '../kit/use-action.ts'
import { useOnFocusedElementRemoved } from '../kit/use-on-focused-element-removed.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface DomainCheckProps {
  domain: DomainDetails
  toRecords?: () => void
  onDone?: () => void
}

const firstSeconds = 10
const mostSeconds = 60
const backOff = 1.4

export function DomainCheck({ domain, toRecords, onDone }: DomainCheckProps) {
  const { locale, t } = useTranslation()
  const [asked, setAsked] = useState(0)
  const now = useNow(1000)
  const isProved = domain.state === 'verified'
  const missing = isProved ? namesWithoutAddress(domain) : []
  // DNS may not tell the addresses, and is asked for them once where nothing else is wanted
  const isDone = isProved && (domain.addresses ? missing.length === 0 : asked > 0)
  const list = new Intl.ListFormat(languageTag(locale))
  const part = useRef<HTMLElement>(null)
  const next = useRef<HTMLButtonElement>(null)
  const action = useAction({
    what: 'Checking the domain failed',
    async send() {
      await checkDomain(domain.id)
    }
  })
  const pause = pauseAfter(asked, action.failure)
  const ask = useEffectEvent(async () => {
    if (document.visibilityState === 'visible') await action.start(undefined)
    setAsked(count => count + 1)
  })
  useEffect(() => {
    if (isDone) return
    const timer = setTimeout(() => void ask(), asked === 0 ? 0 : pause * 1000)
    return () => clearTimeout(timer)
  }, [asked, pause, isDone])
  useOnFocusedElementRemoved(part, () => next.current?.focus())

  return (
    <section ref={part} className="sheet flex flex-col gap-4" aria-labelledby="domain-check">
      <h2 id="domain-check" tabIndex={-1} className="section-title">
        {t('domains.check.title')}
      </h2>
      <div role="status" className="flex items-start gap-3">
        <Icon
          name={isProved ? 'check' : 'dashed'}
          className={`size-6 ${isProved ? 'text-success' : 'text-ink-soft'}`}
        />
        <p className={`wrap-anywhere min-w-0 ${isProved ? 'font-semibold text-success' : ''}`}>
          {isProved ? t('domains.check.proved', { host: domain.host }) : outcomeWords(domain, t)}
        </p>
      </div>
      {isProved && domain.addresses && (
        <p className="wrap-anywhere" role="status">
          {missing.length === 0
            ? t('domains.check.live', {
                addresses: list.format(new Set(Object.values(domain.addresses).flat()))
              })
            : t('domains.check.noAddress', { names: list.format(missing) })}
        </p>
      )}
      {!isProved && <FoundValues domain={domain} />}
      {domain.failing_since && (
        <p>
          {t(
            domain.state === 'quarantined' ? 'domains.check.quarantined' : 'domains.check.failing',
            { since: formatDateTime(new Date(domain.failing_since), locale) }
          )}
        </p>
      )}
      {!isDone && (
        <p className="meta">
          {domain.check && now !== undefined
            ? t('domains.check.last', { ago: ago(domain.check.at, now, locale) })
            : t('domains.check.first')}{' '}
          {t('domains.check.again')}
        </p>
      )}
      {action.failure && <ErrorNote error={action.failure} />}
      <div className="flex flex-wrap gap-4">
        {isProved && onDone && (
          <button ref={next} type="button" className="btn btn-primary" onClick={onDone}>
            {t('domains.check.next')}
          </button>
        )}
        {!isDone && (
          <BusyButton
            label={t('domains.check.now')}
            look="btn-outline"
            isWorking={action.isWorking}
            onClick={() => void action.start(undefined)}
          />
        )}
        {!isDone && toRecords && (
          <button type="button" className="btn btn-ghost" onClick={toRecords}>
            {t('domains.check.toRecords')}
          </button>
        )}
      </div>
      {!isDone && onDone && <p className="meta">{t('domains.check.leave')}</p>}
    </section>
  )
}

function namesWithoutAddress({ host, addresses }: DomainDetails): string[] {
  if (!addresses) return []
  const names = host.startsWith('*') ? [host] : [host, `api.${host}`]
  return names.filter((_, at) => [addresses.pages, addresses.api][at]?.length === 0)
}

function FoundValues({ domain: { check, proof } }: { domain: DomainDetails }) {
  const { t } = useTranslation()
  if (check?.outcome !== 'other_value' || !proof) return null
  return (
    <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[minmax(9rem,auto)_1fr]">
      <dt className="text-ink-soft">{t('domains.check.wanted')}</dt>
      <dd className="fingerprint min-w-0">{proof.value}</dd>
      <dt className="text-ink-soft">{t('domains.check.found')}</dt>
      <dd className="min-w-0">
        {check.values.map(value => (
          <span key={value} className="fingerprint block">
            {value}
          </span>
        ))}
      </dd>
    </dl>
  )
}

function outcomeWords({ check, proof }: DomainDetails, t: Translate) {
  if (!check) return t('domains.check.asking')
  return t(`domains.check.outcomes.${check.outcome}`, { name: proof?.name ?? '' })
}

function pauseAfter(asked: number, failure: AppError | undefined): number {
  const pause = Math.min(mostSeconds, firstSeconds * backOff ** Math.max(0, asked - 3))
  return Math.max(pause, failure?.retryAfter ?? 0)
}

function ago(at: string, now: number, locale: Locale): string {
  const format = new Intl.RelativeTimeFormat(languageTag(locale), { numeric: 'auto' })
  // the clocks of server and device may differ
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000))
  if (seconds < 60) return format.format(-seconds, 'second')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return format.format(-minutes, 'minute')
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? format.format(-hours, 'hour') : format.format(-Math.floor(hours / 24), 'day')
}
