import type { DataSource } from '../../contract/data-sources.ts'
import type { RegisterColumn } from '../../contract/registers.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'

type Columns = DataSource['columns']

export function keyColumnOf(columns: Columns): RegisterColumn | undefined {
  return columns.find(({ use }) => use === 'fingerprint' || use === 'reference')
}

export function checkColumnsOf(columns: Columns): RegisterColumn[] {
  return columns.filter(({ use }) => use === 'check')
}

/** Those whose values an answer shows, beside the key. */
export function shownColumnsOf(columns: Columns): RegisterColumn[] {
  return columns.filter(({ use, shown }) => use === 'shown' || (use === 'check' && shown))
}

/** `Diploma number, checked with last name and date of birth; shows degree and year` */
export function describeColumns(columns: Columns, locale: Locale, t: Translate): string {
  const key = keyColumnOf(columns)
  if (!key) return t('dataSources.columns.none')
  const named = {
    key: key.labels[locale],
    checks: listInSentence(checkColumnsOf(columns), locale),
    shown: listInSentence(shownColumnsOf(columns), locale)
  }
  const whole = named.checks ? t('dataSources.columns.checked', named) : named.key
  return named.shown ? t('dataSources.columns.shows', { ...named, whole }) : whole
}

function listInSentence(columns: Columns, locale: Locale): string {
  const list = new Intl.ListFormat(languageTag(locale))
  return list.format(columns.map(({ labels }) => lowerFirst(labels[locale], locale)))
}

// `Last name` → `last name`, but `INE` stays
function lowerFirst(label: string, locale: Locale): string {
  return /^\p{Lu}\p{Ll}/u.test(label)
    ? label.slice(0, 1).toLocaleLowerCase(locale) + label.slice(1)
    : label
}
