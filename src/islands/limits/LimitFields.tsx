import { type SyntheticEvent, useState } from 'react'
import {
  formatRequestLimitInput,
  formatStorageLimitInput,
  parseRequestLimit,
  parseStorageLimit
} from '../../core/input/limit-input.ts'
import { type LimitPeriodLength, limitPeriodLengths } from '../../core/limit-period.ts'
import type { Locale } from '../../i18n/index.ts'
import { SelectField } from '../forms/SelectField.tsx'
import { Field } from '../kit/Field.tsx'
import { useTranslation } from '../kit/use-translation.ts'

/** Limits of a group. `null` means unlimited. `max_storage` is in bytes. */
export interface GroupLimits {
  max_requests: number | null
  max_requests_interval: LimitPeriodLength
  max_storage: number | null
}

/**
 * The fields of a group's limits. When the person leaves a text field, its number is rewritten as
 * usual in the language of the page (`1000` → `1,000`), and a text that is not a number is removed.
 * The page must pass the translations whose keys begin with `limits.` to the island.
 */
export function LimitFields({ limits }: { limits: GroupLimits }) {
  const { locale, t } = useTranslation()
  const [typed, setTyped] = useState({
    max_requests: formatRequestLimitInput(limits.max_requests, locale),
    max_storage: formatStorageLimitInput(limits.max_storage, locale)
  })
  const follow = ({ target }: SyntheticEvent) => {
    if (!(target instanceof HTMLInputElement)) return
    setTyped(before => ({ ...before, [target.name]: target.value }))
  }
  const rewrite = (event: SyntheticEvent) => {
    const { target } = event
    if (!(target instanceof HTMLInputElement)) return
    const [read, write] =
      target.name === 'max_requests'
        ? [parseRequestLimit, formatRequestLimitInput]
        : [parseStorageLimit, formatStorageLimitInput]
    target.value = write(read(target.value, locale), locale)
    follow(event)
  }
  const hintOf = (limit: number | null) => t(limit === null ? 'limits.none' : 'limits.empty')

  return (
    <div className="flex flex-col gap-4">
      <Field
        label={t('limits.requests')}
        name="max_requests"
        inputMode="numeric"
        onInput={follow}
        onBlur={rewrite}
        initial={typed.max_requests}
        hint={hintOf(parseRequestLimit(typed.max_requests, locale))}
      />
      <SelectField
        label={t('limits.period')}
        name="max_requests_interval"
        initial={limits.max_requests_interval ?? ''}
        options={limitPeriodLengths.map(interval => ({
          value: interval ?? '',
          label: t(`limits.periods.${interval ?? 'total'}`)
        }))}
      />
      <Field
        label={t('limits.gigabytes')}
        name="max_storage"
        inputMode="decimal"
        onInput={follow}
        onBlur={rewrite}
        initial={typed.max_storage}
        hint={hintOf(parseStorageLimit(typed.max_storage, locale))}
      />
    </div>
  )
}

/** Returns the limits from the values of a form with `LimitFields`. */
export function limitsFromForm(values: Record<string, string>, locale: Locale): GroupLimits {
  const { max_requests = '', max_requests_interval, max_storage = '' } = values
  return {
    max_requests: parseRequestLimit(max_requests, locale),
    max_requests_interval: limitPeriodLengths.find(each => each === max_requests_interval) ?? null,
    max_storage: parseStorageLimit(max_storage, locale)
  }
}
