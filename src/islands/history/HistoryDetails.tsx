import { useStore } from '@nanostores/react'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { Deposit } from '../../contract/deposits.ts'
import { AppError, asAppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { formatBytes, formatInstant } from '../../core/text/format.ts'
import { type Locale, localizedPath, type T } from '../../i18n/index.ts'
import { $checkedNames } from '../../stores/checked-names.ts'
import { loadDetails } from '../../stores/history/requests.ts'
import { can } from '../../stores/users.ts'
import { useDocumentDownload } from '../files/use-document-download.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { CopyButton } from '../kit/CopyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useWaiting } from '../kit/time.ts'
import { VerifyAddress } from '../kit/VerifyAddress.tsx'
import { hasFile, requestName, requestSeal, stateColor, stateLabel } from './request-labels.ts'
import { UnfinishedUpload } from './UnfinishedUpload.tsx'

interface HistoryDetailsProps {
  id: string
  /** As the list has it, where it has it: a change there is shown here. */
  request: ProcessedRequest | undefined
  categories: ReadonlyMap<string, string>
  locale: Locale
  /** Over the namespaces `history`, `errors` and `common`. */
  t: T
  onClose: () => void
}

type Loaded = { request: ProcessedRequest; deposit?: Deposit }

/** All facts of one request, and what can be done with it: at the side of wide windows, over narrow ones. */
export function HistoryDetails({ id, request: listed, t, ...props }: HistoryDetailsProps) {
  const { locale, categories, onClose } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  const [tries, setTries] = useState(0)
  const [state, setState] = useState<Loaded | AppError>()
  const waiting = useWaiting(state === undefined)

  useEffect(() => {
    const { current: opened } = dialog
    if (!opened) return
    opened.showModal()
    const close = ({ target, clientX }: MouseEvent) => {
      // the dialog itself is hit on its padding and on its backdrop, which lies beside it
      if (target === opened && clientX < opened.getBoundingClientRect().left) opened.close()
    }
    opened.addEventListener('click', close)
    return () => opened.removeEventListener('click', close)
  }, [])

  const seq = listed?.seq
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newer state and another try load again
  useEffect(() => {
    let isOver = false
    loadDetails(id).then(
      loaded => {
        if (!isOver) setState(loaded)
      },
      (cause: unknown) => {
        if (!isOver) setState(asAppError(cause, 'Details failed'))
      }
    )
    return () => {
      isOver = true
    }
  }, [id, seq, tries])

  const loaded = state instanceof AppError ? undefined : state
  const request = listed ?? loaded?.request
  const shown = request && { request, t, locale, deposit: loaded?.deposit }
  return (
    <dialog
      ref={dialog}
      aria-labelledby={title}
      className="m-0 ms-auto h-dvh max-h-none w-full max-w-none overflow-y-auto bg-base-100 p-4 text-base-content backdrop:bg-black/40 sm:p-6 lg:w-[480px] lg:border-base-300 lg:border-s"
      onClose={onClose}
    >
      <div className="flex min-h-full flex-col gap-6">
        <div className="flex items-start gap-4">
          {request && <AnimatedSeal state={requestSeal(request)} className="size-12" />}
          <div className="min-w-0 grow">
            <h2 id={title} className="section-title break-words">
              {request ? requestName(request, t) : t('history.details.title')}
            </h2>
            {request && (
              <p className={`font-medium ${stateColor(request)}`}>{stateLabel(request, t)}</p>
            )}
          </div>
          <button
            type="button"
            className="btn btn-ghost btn-sm shrink-0"
            onClick={() => dialog.current?.close()}
          >
            {t('history.details.close')}
          </button>
        </div>
        {request?.code && <p>{t(`errors.${request.code}`)}</p>}
        {request?.kind === 'deposit' && request.state === 'uploading' && (
          <UnfinishedUpload
            request={request}
            name={requestName(request, t)}
            t={t}
            locale={locale}
          />
        )}
        {request?.reduced_from && (
          <p>
            {t('history.details.reduced', {
              w: request.reduced_from.w,
              h: request.reduced_from.h,
              size: formatBytes(request.reduced_from.bytes, locale)
            })}
          </p>
        )}
        {request?.store === 'fingerprint' && <p>{t('history.details.fingerprintOnly')}</p>}
        {request?.kind === 'deposit' && request.state === 'done' && (
          <VerifyAddress locale={locale} t={t} />
        )}
        {shown && <Facts {...shown} category={categories.get(request?.category_id ?? '')} />}
        <p role="status" className="text-ink-soft empty:hidden">
          {state === undefined && (waiting === 'text' || waiting === 'slow')
            ? t('history.details.loading')
            : ''}
        </p>
        {state instanceof AppError && (
          <ErrorNote error={state} locale={locale} t={t}>
            <div>
              <button
                type="button"
                className="btn btn-outline btn-sm"
                onClick={() => {
                  setState(undefined)
                  setTries(tries + 1)
                }}
              >
                {t('history.retry')}
              </button>
            </div>
          </ErrorNote>
        )}
        {request && <Actions request={request} locale={locale} t={t} />}
      </div>
    </dialog>
  )
}

interface FactsProps {
  request: ProcessedRequest
  deposit: Deposit | undefined
  category: string | undefined
  locale: Locale
  t: T
}

function Facts({ request, deposit, category, locale, t }: FactsProps) {
  const { kind, items, reduced_from, size, media_type, leaf_hash, deposit_id } = request
  const names = useStore($checkedNames, { ssr: 'initial' }).get(request.id) ?? []
  const word = (name: string) => t(`history.details.${name}`)
  const code = (name: string, value: string | undefined) =>
    value && (
      <Fact label={word(name)}>
        <span className="fingerprint">{value}</span>
        <CopyButton text={value} t={t} label={t('history.details.copy', { what: word(name) })} />
      </Fact>
    )
  return (
    <>
      <dl className="flex flex-col gap-3">
        <Fact label={word('kind')}>{word(kind)}</Fact>
        <Fact label={word('begun')}>
          <time dateTime={request.created}>{formatInstant(new Date(request.created), locale)}</time>
        </Fact>
        {deposit && (
          <Fact label={word('recorded')}>
            <time dateTime={deposit.recorded}>
              {formatInstant(new Date(deposit.recorded), locale)}
            </time>
          </Fact>
        )}
        {category && <Fact label={word('category')}>{category}</Fact>}
        {size !== undefined && <Fact label={word('size')}>{formatBytes(size, locale)}</Fact>}
        {items && (
          <Fact label={word('counts')}>
            {t('history.details.asked', { count: items.asked })},{' '}
            {t('history.counts', { found: items.authentic, missing: items.not_found })}
          </Fact>
        )}
        {names.length > 1 && (
          <Fact label={word('checked')}>
            {names.map((name, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
              <span key={at} className="wrap-anywhere">
                {name}
              </span>
            ))}
          </Fact>
        )}
        {code(reduced_from ? 'originalReduced' : 'original', deposit?.original)}
        {code('stored', reduced_from && deposit?.stored)}
      </dl>
      <details>
        <summary className="cursor-pointer text-ink-soft text-sm">{word('numbers')}</summary>
        <dl className="flex flex-col gap-3 pt-3">
          {media_type && <Fact label={word('media')}>{media_type}</Fact>}
          {code('record', deposit && deposit_id)}
          {code('leaf', leaf_hash)}
          {code('request', request.id)}
        </dl>
      </details>
    </>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-col items-start gap-0.5">
      <dt className="label-text">{label}</dt>
      <dd className="flex min-w-0 flex-col items-start break-words">{children}</dd>
    </div>
  )
}

function Actions({ request, locale, t }: { request: ProcessedRequest; locale: Locale; t: T }) {
  const { isSaving, error, save } = useDocumentDownload(request)
  const { kind, state } = request
  const hasEnded = ['cancelled', 'lapsed', 'rejected', 'failed'].includes(state)
  const isOpen = kind === 'deposit' && state === 'uploading'
  return (
    <div className="mt-auto flex flex-col items-start gap-3 pb-[env(safe-area-inset-bottom)]">
      {error && <ErrorNote error={error} locale={locale} t={t} />}
      {hasFile(request) && (
        <button
          type="button"
          className="btn btn-primary"
          aria-disabled={isSaving}
          onClick={() => void save()}
        >
          <Icon name="save" className="size-4" />
          {t(`history.${isSaving ? 'saving' : request.reduced_from ? 'saveReduced' : 'save'}`)}
        </button>
      )}
      {kind === 'deposit' && can('deposit') && (hasEnded || isOpen) && (
        <a className="btn btn-primary" href={localizedPath(locale, '/deposit')}>
          {t(`history.details.${isOpen ? 'upload' : 'again'}`)}
        </a>
      )}
      {kind === 'verify' && (
        <a className="btn btn-outline" href={localizedPath(locale, '/verify')}>
          {t('history.details.check')}
        </a>
      )}
    </div>
  )
}
