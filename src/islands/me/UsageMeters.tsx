import type { UsageOfAllGroups } from '../../contract/users.ts'
import { formatBytes, formatDateTime } from '../../core/text/format.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { Meter, usedFraction } from '../kit/Meter.tsx'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'

export function UsageMeters({ usage }: { usage: UsageOfAllGroups }) {
  const { locale, t } = useTranslation()
  const { own, requests_used, requests_limit, storage_used, storage_limit } = usage
  return (
    <Section id="usage" title={t('me.usage.title')} note={t('me.usage.request')}>
      {own && (
        <section className="flex flex-col gap-3" aria-labelledby="own-usage">
          <h3 id="own-usage" className="font-semibold">
            {t('me.usage.own')}
          </h3>
          <Meter
            label={t('me.usage.requests')}
            words={ownRequestWords(own.requests_used, usage, t)}
          />
          <Meter label={t('me.usage.storage')} words={formatBytes(own.storage_used, locale)} />
        </section>
      )}
      <section className="flex flex-col gap-3" aria-labelledby="group-usage">
        <div>
          <h3 id="group-usage" className="font-semibold">
            {t('me.usage.groups')}
          </h3>
          <p className="meta">{t('me.usage.note')}</p>
        </div>
        <Meter
          label={t('me.usage.requests')}
          words={requestWords(usage, locale, t)}
          share={usedFraction(requests_used, requests_limit)}
        />
        <Meter
          label={t('me.usage.storage')}
          words={storageWords(usage, locale, t)}
          share={usedFraction(storage_used, storage_limit)}
        />
      </section>
    </Section>
  )
}

function ownRequestWords(count: number, { resets_at }: UsageOfAllGroups, t: Translate) {
  return resets_at === null
    ? t('me.usage.ownRequests', { count })
    : t('me.usage.ownPeriod', { count })
}

function requestWords(
  { requests_used, requests_limit, resets_at }: UsageOfAllGroups,
  locale: Locale,
  t: Translate
) {
  if (requests_limit === null) return t('me.usage.requestsUnlimited', { count: requests_used })
  const figures = { used: requests_used, limit: requests_limit }
  if (resets_at === null) return t('me.usage.requestsOf', figures)
  const time = formatDateTime(new Date(resets_at), locale)
  return t('me.usage.requestsPeriod', { ...figures, time })
}

function storageWords(
  { storage_used, storage_limit }: UsageOfAllGroups,
  locale: Locale,
  t: Translate
) {
  const used = formatBytes(storage_used, locale)
  if (storage_limit === null) return t('me.usage.storageUnlimited', { used })
  return t('me.usage.storageOf', { used, limit: formatBytes(storage_limit, locale) })
}
