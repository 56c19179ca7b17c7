import errorsEn from '../../i18n/en/errors.json' with { type: 'json' }
import historyEn from '../../i18n/en/history.json' with { type: 'json' }
import spreadsheetEn from '../../i18n/en/spreadsheet.json' with { type: 'json' }
import errorsFr from '../../i18n/fr/errors.json' with { type: 'json' }
import historyFr from '../../i18n/fr/history.json' with { type: 'json' }
import spreadsheetFr from '../../i18n/fr/spreadsheet.json' with { type: 'json' }
import { type Locale, translator } from '../../i18n/index.ts'
import type { ExportedRequest, ExportFormat } from '../domain/history/request-export.ts'

const words = {
  en: { errors: errorsEn, history: historyEn, spreadsheet: spreadsheetEn },
  fr: { errors: errorsFr, history: historyFr, spreadsheet: spreadsheetFr }
}
const separators = { en: ',', fr: ';' } as const

/** For programs: fields of the API by their names. */
export const machineFormat: ExportFormat = {
  separator: ',',
  columns: {
    id: request => request.id,
    kind: request => request.kind,
    created: request => request.created,
    state: request => request.state,
    code: request => request.code,
    name: request => request.name,
    category: request => request.category,
    category_id: request => request.category_id,
    size: request => request.size,
    reduced_from_bytes: request => request.reduced_from?.bytes,
    media_type: request => request.media_type,
    store: request => (request.kind === 'deposit' ? (request.store ?? 'file') : undefined),
    deposit_id: request => request.deposit_id,
    sha256: request => request.sha256,
    stored_sha256: request => request.stored_sha256,
    leaf_hash: request => request.leaf_hash,
    leaf_index: request => request.leaf_index,
    rung: request => request.rung,
    sealed: request => request.sealed,
    verdict: request => request.verdict,
    match: request => request.match,
    asked: request => request.items?.asked,
    authentic: request => request.items?.authentic,
    not_found: request => request.items?.not_found,
    known_to_register: request => request.items?.known_to_register,
    indeterminate: request => request.items?.indeterminate
  }
}

/** For spreadsheets: words, dates and separator of the language, times in the time zone. */
export function spreadsheetFormat(locale: Locale, timeZone: string): ExportFormat {
  const t = translator(locale, words[locale])
  const heading = (name: string) => t(`spreadsheet.${name}`)
  // Swedish dates are those of ISO 8601, which every spreadsheet reads
  const times = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium'
  })
  const timeOf = (time: string | undefined) => {
    if (time === undefined) return undefined
    const [day = '', clock = ''] = times.format(new Date(time)).split(' ')
    return `${locale === 'fr' ? day.split('-').reverse().join('/') : day} ${clock}`
  }
  const verdictOf = ({ verdict, match }: ExportedRequest) =>
    verdict && t(`history.verdicts.${verdict === 'authentic' ? (match ?? 'original') : verdict}`)
  const columns: ExportFormat['columns'] = {
    id: request => request.id,
    kind: ({ kind }) => t(`history.details.${kind}`),
    created: request => timeOf(request.created),
    state: ({ kind, state }) =>
      t(`history.states.${kind === 'verify' && state === 'done' ? 'checked' : state}`),
    reason: ({ code }) => code && t(`errors.${code}`),
    name: request => request.name,
    category: request => request.category,
    size: request => request.size,
    mediaType: request => request.media_type,
    record: request => request.deposit_id,
    seal: ({ rung }) => rung && t(`history.states.${rung === 'recorded' ? 'done' : rung}`),
    sealed: request => timeOf(request.sealed),
    place: request => request.leaf_index,
    fingerprint: request => request.sha256,
    copyFingerprint: request => request.stored_sha256,
    keepUntil: request => timeOf(request.keep_until),
    result: verdictOf,
    asked: request => request.items?.asked,
    found: request => request.items?.authentic,
    listed: request => request.items?.known_to_register,
    missing: request => request.items?.not_found,
    unanswered: request => request.items?.indeterminate
  }
  const titled = Object.entries(columns).map(([name, cell]) => {
    const isTime = ['created', 'keepUntil', 'sealed'].includes(name)
    return [isTime ? `${heading(name)} (${timeZone})` : heading(name), cell] as const
  })
  return { columns: Object.fromEntries(titled), separator: separators[locale] }
}
