import { useStore } from '@nanostores/react'
import { memo } from 'react'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { formatBytes } from '../../core/text/format.ts'
import { withoutDirectionControls } from '../../core/text/visible-text.ts'
import { localizedPath } from '../../i18n/index.ts'
import { canBePaused, type DepositState } from '../../stores/deposits/deposit-states.ts'
import type { QueuedDeposit } from '../../stores/deposits/deposits.ts'
import {
  cancelDeposit,
  chooseFile,
  choosePicture,
  depositAgain,
  pauseDeposit,
  reopenFile,
  resumeDeposit,
  retryDeposit
} from '../../stores/deposits/deposits.ts'
import { useDocumentDownload } from '../files/download-document.ts'
import { ReceiptButton } from '../files/ReceiptButton.tsx'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { runKeepingFocus } from '../kit/keep-focus.ts'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { depositErrorText, depositStateLabel, sealStateOfDeposit } from './deposit-labels.ts'

interface DepositRowProps {
  deposit: QueuedDeposit
}

// memo, because the list may render ten times a second
export const DepositRow = memo(({ deposit }: DepositRowProps) => {
  const { locale, t } = useTranslation()
  const state = useStore(deposit.$state, { ssr: 'initial' })
  const name = withoutDirectionControls(deposit.name)
  const words = depositStateLabel(state, t, locale, name)
  const isDone = state.status === 'done'
  // beside the buttons, fingerprints would have half a line each
  const isStacked = state.status === 'choosing'
  const isSealed = isDone && state.request.rung === 'sealed'
  const label = isSealed
    ? t('deposit.sealed', { name })
    : t('deposit.unsealed', { name, state: words })

  return (
    <li
      className={`flex gap-3 py-2 ${isStacked ? 'flex-wrap' : 'max-sm:flex-wrap'}`}
      data-status={state.status}
      tabIndex={-1}
    >
      <AnimatedSeal state={sealStateOfDeposit(state)} label={label} className="size-8" small />
      <div className="grid min-w-0 flex-1 content-start gap-1">
        <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
          <p className="wrap-anywhere min-w-0 font-medium">{name}</p>
          <p className="text-ink-soft text-sm tabular-nums">{formatBytes(deposit.size, locale)}</p>
        </div>
        {state.status === 'failed' ? (
          <ErrorNote error={state.error} text={depositErrorText(state.error, t, locale)} />
        ) : (
          <p className={`text-sm tabular-nums ${isDone ? 'font-serif' : 'text-ink-soft'}`}>
            {words}
          </p>
        )}
        {(state.status === 'hashing' || state.status === 'uploading') && (
          <ProgressBar
            label={t('deposit.progressOf', { name })}
            // shows the bytes sent before a reload while the file is hashed again
            ratio={state.status === 'hashing' && state.sent > 0 ? state.sent : state.ratio}
          />
        )}
        {state.status === 'missing' && state.wrong && (
          <p role="alert" className="text-error text-sm">
            {t('deposit.state.wrongFile')}
          </p>
        )}
        <PictureWords deposit={deposit} state={state} />
      </div>
      <div
        className={`flex flex-wrap content-center items-center gap-2 empty:hidden ${isStacked ? 'basis-full sm:ps-11' : 'max-sm:basis-full sm:max-w-1/2 sm:shrink-0 sm:justify-end'}`}
      >
        {state.status === 'choosing' &&
          (['reduced', 'original'] as const).map(choice => (
            <ActionButton
              key={choice}
              name={choice}
              run={id => choosePicture(id, choice)}
              deposit={deposit}
            />
          ))}
        {canBePaused(state) && <ActionButton name="pause" run={pauseDeposit} deposit={deposit} />}
        {state.status === 'paused' && state.by !== 'session' && (
          <ActionButton name="resume" run={resumeDeposit} deposit={deposit} />
        )}
        {state.status === 'missing' && <ChooseAgain deposit={deposit} />}
        {(canBePaused(state) || ['paused', 'choosing', 'missing'].includes(state.status)) && (
          <ActionButton name="cancel" run={cancelDeposit} deposit={deposit} />
        )}
        {state.status === 'failed' && state.retryable && (
          <ActionButton name="retry" run={retryDeposit} deposit={deposit} />
        )}
        {(isDone || state.status === 'duplicate') && (
          <a
            className="btn btn-sm pointer-coarse:min-h-11"
            href={`${localizedPath(locale, '/history')}?request=${state.request.id}`}
            aria-label={t('deposit.action.ofFile', { action: t('deposit.action.open'), name })}
          >
            {t('deposit.action.open')}
          </a>
        )}
        {state.status === 'duplicate' && (
          <ActionButton name="again" run={depositAgain} deposit={deposit} />
        )}
        {isSealed && state.request.deposit_id && (
          <ReceiptButton
            depositId={state.request.deposit_id}
            className="link link-secondary min-h-6 text-start text-sm pointer-coarse:min-h-11"
            name={name}
          />
        )}
        {isDone && state.request.store !== 'fingerprint' && (
          <Save request={state.request} name={name} />
        )}
      </div>
    </li>
  )
})

interface ActionButtonProps {
  name: 'pause' | 'resume' | 'cancel' | 'retry' | 'again' | 'reopen' | 'reduced' | 'original'
  run: (id: string) => void
  deposit: QueuedDeposit
}

function ActionButton({ name, run, deposit }: ActionButtonProps) {
  const { t } = useTranslation()
  const action = t(`deposit.action.${name}`)
  return (
    <button
      type="button"
      className="btn btn-sm"
      aria-label={t('deposit.action.ofFile', {
        action,
        name: withoutDirectionControls(deposit.name)
      })}
      onClick={event => runKeepingFocus(event, () => run(deposit.id))}
    >
      {action}
    </button>
  )
}

function ChooseAgain({ deposit }: { deposit: QueuedDeposit }) {
  const { t } = useTranslation()
  const action = t('deposit.action.choose')
  return (
    <>
      {deposit.canReopen && (
        <ActionButton name="reopen" run={id => void reopenFile(id)} deposit={deposit} />
      )}
      <label className="btn btn-sm has-focus-visible:outline-2 has-focus-visible:outline-offset-2 pointer-coarse:min-h-11">
        {action}
        <input
          type="file"
          className="sr-only"
          aria-label={t('deposit.action.ofFile', {
            action,
            name: withoutDirectionControls(deposit.name)
          })}
          onChange={event => {
            const [file] = event.currentTarget.files ?? []
            event.currentTarget.value = ''
            if (file) chooseFile(deposit.id, file)
          }}
        />
      </label>
    </>
  )
}

interface SaveProps {
  request: ProcessedRequest
  name: string
}

function Save({ request, name }: SaveProps) {
  const { t } = useTranslation()
  const { isSaving, error, save } = useDocumentDownload(request)
  const action = t(
    `deposit.action.${isSaving ? 'saving' : request.reduced_from ? 'saveReduced' : 'save'}`
  )
  return (
    <>
      <button
        type="button"
        className="link link-secondary min-h-6 text-start text-sm pointer-coarse:min-h-11"
        aria-label={t('deposit.action.ofFile', { action, name })}
        aria-disabled={isSaving}
        onClick={() => void save()}
      >
        {action}
      </button>
      {error && <ErrorNote error={error} />}
    </>
  )
}

function PictureWords({ deposit, state }: DepositRowProps & { state: DepositState }) {
  const { locale, t } = useTranslation()
  const { reduction } = deposit
  if (!reduction || ['failed', 'cancelled', 'duplicate'].includes(state.status)) return null
  const { from, to } = reduction
  const copy = { to: formatBytes(to.bytes, locale), w: to.w, h: to.h }
  const picture = { from: formatBytes(from.bytes, locale), fromW: from.w, fromH: from.h }
  if (state.status !== 'choosing') {
    return <p className="text-ink-soft text-sm">{t('deposit.picture', copy)}</p>
  }
  return (
    <>
      <p className="text-ink-soft text-sm">{t('deposit.choosePicture', { ...picture, ...copy })}</p>
      <dl className="grid gap-1 text-sm">
        {(['original', 'stored'] as const).map(which => (
          <div key={which}>
            <dt className="text-ink-soft">{t(`deposit.fingerprint.${which}`)}</dt>
            <dd className="fingerprint">{state[which]}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
