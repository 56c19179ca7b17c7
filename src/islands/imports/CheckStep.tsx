import { useStore } from '@nanostores/react'
import { useState } from 'react'
import { zeroImportCounts } from '../../contract/imports.ts'
import { $importFile } from '../../stores/imports/import-file.ts'
import {
  canContinueSending,
  checkImport,
  discardImport,
  runImport,
  type ShownImport,
  sendRows
} from '../../stores/imports/imports.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { ImportProgress } from './ImportProgress.tsx'
import { RowList } from './RowList.tsx'
import type { ImportWizardProps } from './wizard-props.ts'

interface CheckStepProps extends ImportWizardProps {
  state: Extract<ShownImport, { status: 'ready' }>
  /** The person wants to import another file. */
  onAgain: () => void
  /** The person wants to assign the columns of the same file again. */
  onBack: () => void
}

export function CheckStep(props: CheckStepProps) {
  const { kind, state, onAgain, onBack } = props
  const { t } = useTranslation()
  const { item, error } = state
  const isSending = item.state === 'open' && canContinueSending(item.id)
  const discarding = useAction({
    what: 'Discarding the import failed',
    async send(next: () => void) {
      await discardImport(kind, item.id)
      next()
    }
  })
  const checking = useAction({
    what: 'Checking the import failed',
    send: () => checkImport(kind, item.id)
  })
  const file = useStore($importFile, { ssr: 'initial' })

  return (
    <section
      className="sheet flex flex-col gap-4"
      aria-labelledby="import-check"
      data-state={item.state}
    >
      <div>
        <h2 id="import-check" data-step-heading tabIndex={-1} className="section-title">
          {t('imports.wizard.check.title')}
        </h2>
        <p className="meta wrap-anywhere">{item.file_name}</p>
      </div>
      {isSending && (
        <ImportProgress
          label={t('imports.wizard.check.sending')}
          done={item.stored}
          total={item.rows}
        />
      )}
      {item.state === 'checking' && (
        <ImportProgress
          label={t('imports.wizard.check.checking')}
          done={item.progress?.done ?? 0}
          total={item.progress?.total ?? item.rows}
        />
      )}
      {error && (
        <ErrorNote error={error}>
          {isSending && (
            <button
              type="button"
              className="btn btn-outline btn-sm self-start"
              onClick={() => void sendRows(kind)}
            >
              {t('imports.wizard.check.goOn')}
            </button>
          )}
        </ErrorNote>
      )}
      {item.state === 'open' && !isSending && (
        <div role="alert" className="flex flex-col gap-2">
          <p>{t('imports.wizard.check.interrupted', { done: item.stored, total: item.rows })}</p>
          <p className="text-ink-soft">{t('imports.wizard.check.interruptedText')}</p>
        </div>
      )}
      {item.state === 'failed' && item.failure && (
        <div role="alert" className="alert alert-error alert-outline items-start">
          <Icon name="alert" className="mt-0.5 size-5" />
          <div className="flex flex-col items-start gap-2">
            <p>{t(`imports.failure.${item.failure}`)}</p>
            <button
              type="button"
              className="btn btn-outline btn-sm"
              aria-disabled={checking.isWorking}
              onClick={() => void checking.start(undefined)}
            >
              {t('imports.wizard.check.retry')}
            </button>
          </div>
        </div>
      )}
      {checking.failure && <ErrorNote error={checking.failure} />}
      {item.state === 'checked' && item.counts && <Checked {...props} />}
      {discarding.failure && <ErrorNote error={discarding.failure} />}
      {['open', 'checked', 'failed'].includes(item.state) && (
        <div className="flex flex-wrap gap-3 border-base-300 border-t pt-4">
          {file.status === 'read' && item.state !== 'open' && (
            <BusyButton
              label={t('imports.wizard.check.back')}
              look="btn-outline"
              isWorking={discarding.isWorking}
              onClick={() => void discarding.start(onBack)}
            />
          )}
          <BusyButton
            label={t('imports.wizard.check.discard')}
            look="btn-outline"
            isWorking={discarding.isWorking}
            onClick={() => void discarding.start(onAgain)}
          />
        </div>
      )}
    </section>
  )
}

function Checked(props: CheckStepProps) {
  const { kind, state, runLabel, summary } = props
  const { t } = useTranslation()
  const { item } = state
  const counts = item.counts ?? zeroImportCounts
  const [skips, setSkips] = useState(false)
  const running = useAction({
    what: 'Starting the import failed',
    send: () => runImport(kind, item.id, skips && counts.refused > 0)
  })
  const count = counts.new + counts.changed
  const isOff = count === 0 || (counts.refused > 0 && !skips)
  return (
    <>
      <p className="text-ink-soft">{summary(item)}</p>
      <RowList {...props} item={item} sourceFormat={state.sourceFormat} canCorrect />
      {counts.refused > 0 && (
        <div className="flex flex-col gap-1">
          <label className="flex min-h-8 items-center gap-3">
            <input
              type="checkbox"
              className="checkbox"
              checked={skips}
              onChange={event => setSkips(event.currentTarget.checked)}
            />
            {t('imports.wizard.check.skip', { count: counts.refused })}
          </label>
          <p className="meta">{t('imports.wizard.check.skipHint')}</p>
        </div>
      )}
      {counts.skipped > 0 && (
        <p>{t('imports.wizard.check.skippedRows', { count: counts.skipped })}</p>
      )}
      {count === 0 && counts.refused === 0 && (
        <p>{t(`imports.wizard.check.${counts.skipped > 0 ? 'nothingLeft' : 'nothing'}`)}</p>
      )}
      {running.failure && <ErrorNote error={running.failure} />}
      <div>
        <BusyButton
          label={runLabel(count)}
          isWorking={running.isWorking}
          isOff={isOff}
          onClick={() => void running.start(undefined)}
        />
      </div>
    </>
  )
}
