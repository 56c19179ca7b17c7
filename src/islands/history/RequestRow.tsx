import { memo } from 'react'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { formatBytes, formatExactTime } from '../../core/text/format.ts'
import { localizedPath } from '../../i18n/index.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { Icon } from '../kit/Icon.tsx'
import { relativeTime } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'
import {
  isDownloadable,
  requestColorClass,
  requestName,
  requestStateLabel,
  sealStateOfRequest,
  verifiedCounts
} from './request-labels.ts'

interface RequestRowProps {
  request: ProcessedRequest
  category: string | undefined
  now: number
  /** Whether the Tab key leads to this row. Arrow keys lead to the others. */
  isStop: boolean
  isSaving: boolean
  href: string
  onOpen: (id: string) => void
  onSave: (request: ProcessedRequest) => void
}

// all rows have the same height, so that the positions of rows that are not drawn can be computed
export const RequestRow = memo(
  ({ request, category, now, isStop, isSaving, href, onOpen, onSave }: RequestRowProps) => {
    const { locale, t } = useTranslation()
    const created = new Date(request.created)
    const word = requestStateLabel(request, t)
    const name = requestName(request, t)
    const { items, reduced_from, kind, state } = request
    const stop = isStop ? 0 : -1
    const save = reduced_from ? 'history.saveReduced' : 'history.save'
    return (
      <li
        className="flex items-center gap-3 border-base-300 border-t py-3 sm:gap-4"
        data-request={request.id}
        data-seq={request.seq}
        data-shape="row"
      >
        <AnimatedSeal state={sealStateOfRequest(request)} label={word} small className="size-8" />
        <div className="min-w-0 grow">
          <a
            className="block truncate print:whitespace-normal rounded-sm font-medium hover:underline"
            href={href}
            title={name}
            tabIndex={stop}
            aria-haspopup="dialog"
            onClick={event => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return
              event.preventDefault()
              onOpen(request.id)
            }}
          >
            {name}
          </a>
          {/* all rows are as high as the first; what does not fit is on a line that is not seen */}
          <p className="meta flex h-[1lh] flex-wrap gap-x-3 overflow-hidden text-ink-soft text-sm max-sm:h-[2lh] print:h-auto">
            <span className={`font-medium ${requestColorClass(request)}`}>{word}</span>
            <time dateTime={request.created} title={formatExactTime(created, locale)}>
              <span className="print:hidden">{relativeTime(created, now, locale)}</span>
              <span className="hidden print:inline">{formatExactTime(created, locale)}</span>
            </time>
            {request.size !== undefined && <span>{formatBytes(request.size, locale)}</span>}
            {reduced_from && (
              <span className="max-sm:hidden">
                {t('history.reduced', { size: formatBytes(reduced_from.bytes, locale) })}
              </span>
            )}
            {items && items.asked > 1 && (
              <span className="truncate max-sm:hidden">{verifiedCounts(items, t)}</span>
            )}
            {category && <span className="truncate max-sm:hidden">{category}</span>}
            {request.code && (
              <span className="truncate max-sm:hidden">{t(`errors.${request.code}`)}</span>
            )}
          </p>
        </div>
        {kind === 'deposit' && state === 'uploading' && (
          <a
            className="btn btn-ghost btn-sm shrink-0 px-1.5 text-secondary sm:px-3"
            tabIndex={stop}
            aria-label={t('history.unfinished.resumeOf', { name })}
            href={`${localizedPath(locale, '/deposit')}?resume=${request.id}`}
          >
            {t('history.unfinished.resume')}
          </a>
        )}
        {isDownloadable(request) && (
          <button
            type="button"
            className="btn btn-ghost btn-sm shrink-0 text-secondary"
            tabIndex={stop}
            aria-label={t(`${save}Of`, { name })}
            title={t(save)}
            aria-disabled={isSaving}
            onClick={() => onSave(request)}
          >
            <Icon name="save" className="size-4" />
            <span className="max-lg:hidden">{t(save)}</span>
          </button>
        )}
      </li>
    )
  }
)
