import type { ReactNode } from 'react'
import type { AuditLogEntry } from '../../contract/audit.ts'
import { pagePath } from '../../core/pages/page-table.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { localizedPath } from '../../i18n/index.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { auditTranslator, type TranslateAudit } from './audit-translator.ts'
import {
  buildAuditSentenceParts,
  type ChangeDescription,
  describeChanges,
  type SentencePart,
  skippedVersionCheck
} from './audit-words.ts'

interface AuditEntryProps {
  entry: AuditLogEntry
  company: string
}

export function AuditEntry({ entry, company }: AuditEntryProps) {
  const { locale } = useTranslation()
  const t = auditTranslator(locale)
  const changes = describeChanges(entry, locale, t)
  const path = entry.acted_in === undefined ? pathOfTarget(entry, company) : undefined
  const linkTo = (part: SentencePart): ReactNode => {
    if (typeof part === 'string') return part
    const name = <b className="font-medium">{part.name}</b>
    if (part.role !== 'what' || path === undefined) return name
    return (
      <a className="link" href={localizedPath(locale, path)}>
        {part.name}
      </a>
    )
  }
  return (
    <div className="grid gap-x-6 gap-y-2 md:grid-cols-[1fr_auto]">
      <p className="wrap-anywhere">
        {buildAuditSentenceParts(entry, t).map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence keep their places
          <span key={at}>{linkTo(part)}</span>
        ))}
      </p>
      <time className="meta md:text-end" dateTime={entry.at}>
        {formatDateTime(new Date(entry.at), locale)}
      </time>
      {changes.length > 0 && (
        <dl
          className="grid gap-x-4 gap-y-1 text-sm sm:grid-cols-[minmax(8rem,auto)_1fr] md:col-span-2 md:justify-self-start"
          aria-label={t('changes')}
        >
          {changes.map(change => (
            <Change key={change.field} change={change} t={t} />
          ))}
        </dl>
      )}
      {entry.acted_in !== undefined && (
        <p className="meta md:col-span-2">{t('elsewhere', { company: entry.acted_in })}</p>
      )}
      {entry.erased && <p className="meta md:col-span-2">{t('erased')}</p>}
      {skippedVersionCheck(entry) && <p className="meta md:col-span-2">{t('overwrote')}</p>}
    </div>
  )
}

function Change({ change, t }: { change: ChangeDescription; t: TranslateAudit }) {
  const { label, before, after } = change
  const isBoth = before !== undefined && after !== undefined
  return (
    <>
      <dt className="text-ink-soft">{label}</dt>
      <dd className="wrap-anywhere">
        {isBoth && <span className="sr-only">{t('before')} </span>}
        {before !== undefined && <span className={isBoth ? 'text-ink-soft' : ''}>{before}</span>}
        {isBoth && (
          <>
            <span aria-hidden="true"> → </span>
            <span className="sr-only">, {t('after')} </span>
          </>
        )}
        {after}
      </dd>
    </>
  )
}

function pathOfTarget({ action, target }: AuditLogEntry, company: string): string | undefined {
  if (action.endsWith('.delete') || target.name === null) return undefined
  switch (target.kind) {
    case 'group':
      return pagePath('group', { company, group: target.id })
    case 'category':
      return pagePath('category', { company, category: target.id })
    default:
      return undefined
  }
}
