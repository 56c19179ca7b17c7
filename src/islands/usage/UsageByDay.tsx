import { useStore } from '@nanostores/react'
import { useEffect, useId, useState } from 'react'
import type { UsageDay } from '../../contract/overview.ts'
import { dateTag } from '../../core/text/date-tag.ts'
import { formatBytes } from '../../core/text/format.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import {
  $usageByDay,
  loadUsageByDay,
  type UsagePeriod,
  usagePeriods
} from '../../stores/admin/overview.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWaitPhase } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { DayChart } from './DayChart.tsx'

interface UsageByDayProps {
  company: string
  /** Undefined for the whole company. */
  group?: string | undefined
}

export function UsageByDay({ company, group }: UsageByDayProps) {
  const { t } = useTranslation()
  const titleId = useId()
  const state = useStore($usageByDay, { ssr: 'initial' })
  const [period, setPeriod] = useState<UsagePeriod>(30)
  const waiting = useWaitPhase(state.status === 'loading')

  useEffect(() => {
    void loadUsageByDay(company, group, period)
  }, [company, group, period])

  return (
    <section
      className="sheet flex min-w-0 flex-col gap-4"
      aria-labelledby={titleId}
      data-usage={state.status}
    >
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div>
          <h2 id={titleId} className="section-title">
            {t('overview.usage.title')}
          </h2>
          {group === undefined && <p className="meta">{t('overview.usage.company')}</p>}
        </div>
        <fieldset>
          <legend className="sr-only">{t('overview.usage.period')}</legend>
          <div className="choice-row w-44">
            {usagePeriods.map(each => (
              <label key={each} className="choice-entry">
                <input
                  type="radio"
                  name={`${titleId} period`}
                  checked={each === period}
                  onChange={() => setPeriod(each)}
                />
                <span>{t('overview.usage.days', { count: each })}</span>
              </label>
            ))}
          </div>
        </fieldset>
      </div>
      {state.status === 'loading' && (
        <p role="status" className="min-h-44 text-ink-soft">
          {(waiting === 'text' || waiting === 'slow') && t('overview.usage.loading')}
        </p>
      )}
      {state.status === 'failed' && (
        <ErrorNote error={state.error} retry={() => loadUsageByDay(company, group, period)} />
      )}
      {state.status === 'ready' && <Days days={state.days} />}
    </section>
  )
}

function Days({ days }: { days: readonly UsageDay[] }) {
  const { locale, t } = useTranslation()
  const sum = (of: (day: UsageDay) => number) => days.reduce((total, day) => total + of(day), 0)
  const [deposits, verifications] = [sum(day => day.deposits), sum(day => day.verifications)]
  const isEmpty = deposits + verifications === 0
  return (
    <>
      <p role="status">
        {isEmpty
          ? t('overview.usage.none', { count: days.length })
          : t('overview.usage.total', {
              count: days.length,
              deposits: t('overview.usage.deposits', { count: deposits }),
              verifications: t('overview.usage.verifications', { count: verifications }),
              bytes: formatBytes(
                sum(day => day.bytes),
                locale
              )
            })}
      </p>
      {!isEmpty && <DayChart days={days} />}
      {(!isEmpty || sum(day => day.failed) > 0) && (
        <details>
          <summary className="link w-fit cursor-pointer py-2">{t('overview.usage.table')}</summary>
          <DayTable days={days} locale={locale} t={t} />
        </details>
      )}
    </>
  )
}

const columns = ['deposits', 'verifications', 'bytes', 'failed'] as const

function DayTable({
  days,
  locale,
  t
}: {
  days: readonly UsageDay[]
  locale: Locale
  t: Translate
}) {
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const date = new Intl.DateTimeFormat(dateTag(languageTag(locale)), {
    dateStyle: 'medium',
    timeZone: 'UTC'
  })
  return (
    <table className="mt-2 w-full text-sm" aria-label={t('overview.usage.title')}>
      <thead>
        <tr className="text-ink-soft">
          <th scope="col" className="py-2 text-start font-medium">
            {t('overview.usage.day')}
          </th>
          {columns.map(column => (
            <th key={column} scope="col" className="py-2 ps-3 text-end font-medium wrap-anywhere">
              {t(`overview.usage.${column}Column`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map(each => (
          <tr key={each.day} className="border-t border-base-300">
            <th scope="row" className="py-2 text-start font-normal">
              {date.format(new Date(each.day))}
            </th>
            {columns.map(column => (
              <td key={column} className="py-2 ps-3 text-end">
                {column === 'bytes'
                  ? formatBytes(each.bytes, locale)
                  : numbers.format(each[column])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
