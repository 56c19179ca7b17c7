import { useStore } from '@nanostores/react'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { Deposit } from '../../contract/deposits.ts'
import { AppError, asAppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { formatBytes, formatExactTime, formatMoment } from '../../core/text/format.ts'
import { languageTag, localizedPath } from '../../i18n/index.ts'
import { fetchRequestDetails } from '../../stores/history/requests.ts'
import { hasFeatureOrPermission } from '../../stores/signed-in-user.ts'
import { $verifiedFileNamesByRequest } from '../../stores/verified-file-names.ts'
import { useDocumentDownload } from '../files/download-document.ts'
import { ReceiptButton } from '../files/ReceiptButton.tsx'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { CopyButton } from '../kit/CopyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useWaitPhase } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { VerificationPageAddress } from '../kit/VerificationPageAddress.tsx'
import {
  isDownloadable,
  requestColorClass,
  requestName,
  requestStateLabel,
  sealStateOfRequest,
  verifiedCounts
} from './request-labels.ts'
import { UnfinishedUpload } from './UnfinishedUpload.tsx'

interface HistoryDetailsProps {
  id: string
  /** Undefined if this tab has not received the request. */
  request: ProcessedRequest | undefined
  categories: ReadonlyMap<string, string>
  isDemo: boolean
  onClose: () => void
}

type Loaded = { request: ProcessedRequest; deposit?: Deposit }

export function HistoryDetails(props: HistoryDetailsProps) {
  const { id, request: listed, categories, isDemo, onClose } = props
  const { locale, t } = useTranslation()
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  const [tries, setTries] = useState(0)
  const [state, setState] = useState<Loaded | AppError>()
  const waiting = useWaitPhase(state === undefined)

  useEffect(() => {
    const { current: opened } = dialog
    if (!opened) return
    opened.showModal()
    const close = ({ target, clientX }: MouseEvent) => {
      // clicks on the padding and on the backdrop both have the dialog as their target
      if (target === opened && clientX < opened.getBoundingClientRect().left) opened.close()
    }
    opened.addEventListener('click', close)
    return () => opened.removeEventListener('click', close)
  }, [])

  const seq = listed?.seq
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newer state and another try load again
  useEffect(() => {
    let isOver = false
    fetchRequestDetails(id).then(
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
          {request && <AnimatedSeal state={sealStateOfRequest(request)} className="size-12" />}
          <div className="min-w-0 grow">
            <h2 id={title} className="section-title break-words">
              {request ? requestName(request, t) : t('history.details.title')}
            </h2>
            {request && (
              // the state may change while it is read
              <p role="status" className={`font-medium ${requestColorClass(request)}`}>
                {requestStateLabel(request, t)}
              </p>
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
        {request && <Proof request={request} sealed={loaded?.deposit?.sealed} />}
        {isDemo && request?.rung && <p className="text-ink-soft text-sm">{t('history.demo')}</p>}
        {request?.kind === 'deposit' && request.state === 'uploading' && (
          <UnfinishedUpload request={request} name={requestName(request, t)} />
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
        {request?.erased && (
          <p>
            {t('history.details.erased', {
              time: formatExactTime(new Date(request.erased), locale)
            })}
          </p>
        )}
        {request?.state === 'done' && loaded?.deposit && (
          <VerificationPageAddress visibilities={[loaded.deposit.visibility]} />
        )}
        {shown && <Facts {...shown} category={categories.get(request?.category_id ?? '')} />}
        <p role="status" className="text-ink-soft empty:hidden">
          {state === undefined && (waiting === 'text' || waiting === 'slow')
            ? t('history.details.loading')
            : ''}
        </p>
        {state instanceof AppError && (
          <ErrorNote
            error={state}
            retry={() => {
              setState(undefined)
              setTries(tries + 1)
            }}
          />
        )}
        {request && <Actions request={request} />}
      </div>
    </dialog>
  )
}

interface ProofProps {
  request: ProcessedRequest
  /** If it is not known from the list: a tab that was away has missed the time. */
  sealed: string | undefined
}

function Proof({ request, sealed = request.sealed }: ProofProps) {
  const { locale, t } = useTranslation()
  if (request.kind !== 'deposit' || request.state !== 'done') return null
  if (request.rung === 'sealing_paused') return <p>{t('history.details.paused')}</p>
  if (request.rung !== 'sealed') return <p>{t('history.details.pending')}</p>
  return (
    <p>
      {sealed
        ? t('history.details.since', { time: formatMoment(new Date(sealed), locale) })
        : t('history.details.proved')}
    </p>
  )
}

interface FactsProps {
  request: ProcessedRequest
  deposit: Deposit | undefined
  category: string | undefined
}

function Facts({ request, deposit, category }: FactsProps) {
  const { locale, t } = useTranslation()
  const { kind, items, registers, reduced_from, size, media_type, leaf_hash, deposit_id } = request
  const names = useStore($verifiedFileNamesByRequest, { ssr: 'initial' }).get(request.id) ?? []
  const sealed = request.rung === 'sealed' ? (deposit?.sealed ?? request.sealed) : undefined
  const index = deposit?.leaf_index ?? request.leaf_index
  const code = (label: string, value: string | undefined) =>
    value && (
      <Fact label={label}>
        <span className="fingerprint">{value}</span>
        <CopyButton text={value} label={t('history.details.copy', { what: label })} />
      </Fact>
    )
  return (
    <>
      <dl className="flex flex-col gap-3">
        <Fact label={t('history.details.kind')}>{t(`history.details.${kind}`)}</Fact>
        <Fact label={t('history.details.begun')}>
          <time dateTime={request.created}>
            {formatExactTime(new Date(request.created), locale)}
          </time>
        </Fact>
        {deposit && (
          <Fact label={t('history.details.recorded')}>
            <time dateTime={deposit.recorded}>
              {formatExactTime(new Date(deposit.recorded), locale)}
            </time>
          </Fact>
        )}
        {sealed && (
          <Fact label={t('history.details.sealed')}>
            <time dateTime={sealed}>{formatExactTime(new Date(sealed), locale)}</time>
          </Fact>
        )}
        {category && <Fact label={t('history.details.category')}>{category}</Fact>}
        {request.keep_until && !request.erased && (
          <Fact label={t('history.details.keepUntil')}>
            {formatExactTime(new Date(request.keep_until), locale)}
          </Fact>
        )}
        {size !== undefined && (
          <Fact label={t('history.details.size')}>{formatBytes(size, locale)}</Fact>
        )}
        {items && (
          <Fact label={t('history.details.counts')}>
            {t('history.details.asked', { count: items.asked })}, {verifiedCounts(items, t)}
          </Fact>
        )}
        {registers && (
          <Fact label={t('history.details.registers')}>
            {registers.map(({ id, name, found }) => (
              <span key={id} className="wrap-anywhere">
                {t('history.details.register', { name, count: found })}
              </span>
            ))}
          </Fact>
        )}
        {names.length > 1 && (
          <Fact label={t('history.details.checked')}>
            {names.map((name, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
              <span key={at} className="wrap-anywhere">
                {name}
              </span>
            ))}
          </Fact>
        )}
        {code(
          t(`history.details.${reduced_from ? 'originalReduced' : 'original'}`),
          deposit?.original
        )}
        {code(t('history.details.stored'), reduced_from && deposit?.stored)}
      </dl>
      <details>
        <summary className="cursor-pointer text-ink-soft text-sm">
          {t('history.details.numbers')}
        </summary>
        <dl className="flex flex-col gap-3 pt-3">
          {media_type && <Fact label={t('history.details.media')}>{media_type}</Fact>}
          {code(t('history.details.record'), deposit && deposit_id)}
          {index !== undefined && (
            <Fact label={t('history.details.place')}>
              {new Intl.NumberFormat(languageTag(locale)).format(index)}
            </Fact>
          )}
          {code(t('history.details.leaf'), leaf_hash)}
          {code(t('history.details.request'), request.id)}
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

function Actions({ request }: { request: ProcessedRequest }) {
  const { locale, t } = useTranslation()
  const { isSaving, error, save } = useDocumentDownload(request)
  const { kind, state, deposit_id } = request
  const hasEnded = ['cancelled', 'lapsed', 'rejected', 'failed'].includes(state)
  const isOpen = kind === 'deposit' && state === 'uploading'
  return (
    <div className="mt-auto flex flex-col items-start gap-3 pb-[env(safe-area-inset-bottom)]">
      {error && <ErrorNote error={error} />}
      {isDownloadable(request) && (
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
      {request.rung === 'sealed' && deposit_id && (
        <>
          <ReceiptButton
            depositId={deposit_id}
            className={`btn ${isDownloadable(request) ? 'btn-outline' : 'btn-primary'}`}
          />
          <ReceiptButton
            depositId={deposit_id}
            format="tlog-proof"
            className="link link-secondary min-h-6 text-start text-sm pointer-coarse:min-h-11"
          />
        </>
      )}
      {kind === 'deposit' && hasFeatureOrPermission('deposit') && (hasEnded || isOpen) && (
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
