import { type SyntheticEvent, useContext, useRef, useState } from 'react'
import type { GroupUsage } from '../../contract/groups.ts'
import type { FieldErrors } from '../../contract/kit/errors.ts'
import {
  formatRequestLimitInput,
  formatStorageLimitInput,
  parseRequestLimit,
  parseStorageLimit,
  type TypedLimit
} from '../../core/input/limit-input.ts'
import { type LimitPeriodLength, limitPeriodLengths } from '../../core/limit-period.ts'
import { formatBytes, formatDateTime } from '../../core/text/format.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { Field, FormErrors } from '../forms/Field.tsx'
import type { FormValues } from '../forms/use-form.ts'
import { useTranslation } from '../kit/use-translation.ts'

/** `null` means unlimited. `max_storage` is in bytes. */
export interface GroupLimits {
  max_requests: number | null
  max_requests_interval: LimitPeriodLength
  max_storage: number | null
}

interface LimitFieldsProps {
  limits: GroupLimits
  usage: GroupUsage | undefined
}

type LimitName = 'max_requests' | 'max_storage'

/**
 * Must be in a form with `useLimitChecks()`. The page must pass the translations `fields` and
 * `limits`.
 */
export function LimitFields({ limits, usage }: LimitFieldsProps) {
  const { locale, t } = useTranslation()
  const errors = useContext(FormErrors)
  const [period, setPeriod] = useState(limits.max_requests_interval)
  const [typed, setTyped] = useState<Record<LimitName, string>>({
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
    const isRequests = target.name === 'max_requests'
    const { limit, problem } = parse(isRequests ? 'max_requests' : 'max_storage', target.value)
    // the text stays, so that a typing error can be corrected
    if (problem) return
    target.value = (isRequests ? formatRequestLimitInput : formatStorageLimitInput)(limit, locale)
    follow(event)
  }
  const parse = (name: LimitName, text: string) => parseLimit(name, text, locale)

  const belowUsage = (name: LimitName, limit: number): string | undefined => {
    if (!usage) return undefined
    if (name === 'max_storage') {
      if (limit >= usage.storage_used) return undefined
      return t('limits.belowStorage', { used: formatBytes(usage.storage_used, locale) })
    }
    // what was used in a period of another length is not known
    if (limit >= usage.requests_used || period !== limits.max_requests_interval) return undefined
    const used = new Intl.NumberFormat(languageTag(locale)).format(usage.requests_used)
    if (usage.resets_at === null) return t('limits.belowTotalRequests', { used })
    const time = formatDateTime(new Date(usage.resets_at), locale)
    return t('limits.belowRequests', { used, time })
  }
  const hintOf = (name: LimitName): string | undefined => {
    const { limit, problem } = parse(name, typed[name])
    if (problem === 'numeric')
      return errors[name] ? undefined : t('fields.no_limit', { limit: typed[name].trim() })
    if (limit === null) return problem ? undefined : t('limits.none')
    return belowUsage(name, limit) ?? t('limits.empty')
  }
  const fieldOf = (name: LimitName) => ({
    name,
    onInput: follow,
    onBlur: rewrite,
    initial: typed[name],
    hint: hintOf(name)
  })

  return (
    <div className="flex flex-col gap-4">
      <Field
        {...fieldOf('max_requests')}
        label={fieldLabel('max_requests', locale)}
        inputMode="numeric"
      />
      <SelectField
        label={fieldLabel('max_requests_interval', locale)}
        name="max_requests_interval"
        initial={limits.max_requests_interval ?? ''}
        onInput={({ currentTarget }) => setPeriod(periodOf(currentTarget.value))}
        options={limitPeriodLengths.map(interval => ({
          value: interval ?? '',
          label: t(`limits.periods.${interval ?? 'total'}`)
        }))}
      />
      <Field {...fieldOf('max_storage')} label={t('limits.gigabytes')} inputMode="decimal" />
    </div>
  )
}

/**
 * A text that is not a number is saved as no limit. `slowErrors` announces it once, so the next
 * submission saves.
 */
export function useLimitChecks() {
  const { locale } = useTranslation()
  const announced = useRef<Partial<Record<LimitName, string>>>({})
  const parsed = (values: FormValues) =>
    limitNames.map(name => {
      const text = (values[name] ?? '').trim()
      return { name, text, problem: parseLimit(name, text, locale).problem }
    })
  return {
    inputErrors: (values: FormValues): FieldErrors =>
      Object.fromEntries(
        parsed(values)
          .filter(({ problem }) => problem === 'integer')
          .map(({ name }) => [name, { rule: 'integer' }])
      ),
    async slowErrors(values: FormValues): Promise<FieldErrors | undefined> {
      const found = parsed(values)
        .filter(({ problem }) => problem === 'numeric')
        .filter(({ name, text }) => announced.current[name] !== text)
      for (const { name, text } of found) announced.current[name] = text
      if (found.length === 0) return undefined
      return Object.fromEntries(
        found.map(({ name, text }) => [name, { rule: 'no_limit', limit: text }])
      )
    }
  }
}

export function limitsFromForm(values: FormValues, locale: Locale): GroupLimits {
  return {
    max_requests: parseLimit('max_requests', values['max_requests'], locale).limit,
    max_requests_interval: periodOf(values['max_requests_interval']),
    max_storage: parseLimit('max_storage', values['max_storage'], locale).limit
  }
}

const limitNames = ['max_requests', 'max_storage'] as const satisfies LimitName[]

function parseLimit(name: LimitName, text = '', locale: Locale): TypedLimit {
  return name === 'max_requests' ? parseRequestLimit(text) : parseStorageLimit(text, locale)
}

function periodOf(value: string | undefined): LimitPeriodLength {
  return limitPeriodLengths.find(each => each === value) ?? null
}

/** `7 documents per day`, « 7 documents par jour » */
export function describeRequestLimit(
  limits: Pick<GroupLimits, 'max_requests' | 'max_requests_interval'>,
  t: Translate
): string {
  const { max_requests, max_requests_interval } = limits
  if (max_requests === null) return t('limits.unlimited')
  return t(`limits.of.${max_requests_interval ?? 'total'}`, { count: max_requests })
}

/** `2.5 GB`, « 2,5 Go » */
export function describeStorageLimit(
  max_storage: number | null,
  locale: Locale,
  t: Translate
): string {
  return max_storage === null ? t('limits.unlimited') : formatBytes(max_storage, locale)
}
