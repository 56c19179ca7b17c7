import { memo } from 'react'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { formatBytes, formatDateTime } from '../../core/format.ts'
import type { SealState } from '../../core/seal.ts'
import type { Locale, T } from '../../i18n/index.ts'
import { ErrorNote } from './ErrorNote.tsx'
import { Icon } from './Icon.tsx'
import { Seal } from './Seal.tsx'
import { relativeTime } from './time.ts'
import { useSave } from './use-save.ts'

export interface RowProps {
  request: ProcessedRequest
  locale: Locale
  /** Over the namespaces `history`, `errors` and `common`. */
  t: T
  now: number
}

/** One line of the history: seal, name, state, time and size. */
export const RequestRow = memo(
  ({ request, locale, t, now }: RowProps) => {
    const created = new Date(request.created)
    const word = stateWord(request, t)
    const { items } = request
    return (
      <li className="flex items-start gap-4 py-3" data-request={request.id} data-seq={request.seq}>
        <Seal state={sealOf(request)} label={word} small className="mt-1 size-8" />
        <div className="min-w-0 grow">
          <p className="truncate font-medium" title={nameOf(request, t)}>
            {nameOf(request, t)}
          </p>
          <p className="meta flex flex-wrap gap-x-3 text-ink-soft text-sm">
            <span className={`font-medium ${toneOf(request)}`}>{word}</span>
            <time dateTime={request.created} title={formatDateTime(created, locale)}>
              {relativeTime(created, now, locale)}
            </time>
            {request.size !== undefined && <span>{formatBytes(request.size, locale)}</span>}
          </p>
          {items && items.asked > 1 && (
            <p className="text-ink-soft text-sm">
              {t('history.counts', { found: items.authentic, missing: items.not_found })}
            </p>
          )}
          {request.code && <p className="text-sm">{t(`errors.${request.code}`)}</p>}
        </div>
        {request.kind === 'deposit' &&
          request.state === 'done' &&
          request.deposit_id &&
          request.store !== 'fingerprint' && (
            <Save request={request} name={nameOf(request, t)} locale={locale} t={t} />
          )}
      </li>
    )
  },
  // `t` is made anew at every drawing, from words that never change within a page
  (a, b) => a.request === b.request && a.now === b.now
)

function Save({
  request,
  name,
  locale,
  t
}: {
  request: ProcessedRequest
  name: string
  locale: Locale
  t: T
}) {
  const { isSaving, error, save } = useSave(request)
  return (
    <div className="flex shrink-0 flex-col items-end gap-2">
      <button
        type="button"
        className="btn btn-ghost btn-sm text-secondary"
        aria-label={t('history.saveOf', { name })}
        title={t('history.save')}
        aria-disabled={isSaving}
        onClick={() => void save()}
      >
        <Icon name="save" className="size-4" />
        <span className="max-lg:hidden">{t('history.save')}</span>
      </button>
      <span role="status" className="sr-only">
        {isSaving ? t('history.saving') : ''}
      </span>
      {error && <ErrorNote error={error} locale={locale} t={t} />}
    </div>
  )
}

function nameOf({ kind, name, items }: ProcessedRequest, t: T): string {
  if (kind === 'verify') return t('history.check', { count: items?.asked ?? 1 })
  return name ?? t('history.document')
}

function stateWord({ kind, state, verdict, match }: ProcessedRequest, t: T): string {
  if (kind === 'verify' && state === 'done' && verdict) {
    return t(`history.verdicts.${verdict === 'authentic' ? (match ?? 'original') : verdict}`)
  }
  return t(`history.states.${kind === 'verify' && state === 'done' ? 'checked' : state}`)
}

function toneOf({ kind, state, verdict }: ProcessedRequest): string {
  if (state === 'rejected' || state === 'failed') return 'text-error'
  if (state !== 'done' || (kind === 'verify' && verdict !== 'authentic')) return ''
  return 'text-success'
}

function sealOf({ kind, state, leaf_hash }: ProcessedRequest): SealState {
  if (state === 'done' && leaf_hash) return { kind: 'sealed', leafHash: leaf_hash }
  if (kind === 'verify') return { kind: 'idle' }
  if (state === 'uploading') return { kind: 'even' }
  if (state === 'queued' || state === 'processing') return { kind: 'sealing' }
  return { kind: 'idle' }
}
