import { useStore } from '@nanostores/react'
import type { DataSource } from '../../contract/data-sources.ts'
import { registerLimits } from '../../contract/kit/limits.ts'
import type { RegisterImport } from '../../contract/register-imports.ts'
import { formatBytes, formatPercent } from '../../core/text/format.ts'
import { $importFile } from '../../stores/imports/import-file.ts'
import {
  discardRegisterImport,
  runRegisterImport,
  type ShownRegisterImport
} from '../../stores/imports/register-imports.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { ConfirmButton } from '../forms/ConfirmButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { RefusedRegisterRows } from './RefusedRegisterRows.tsx'
import { RegisterUploadPanel } from './RegisterUploadPanel.tsx'
import { changesNothing, describeDryRun, hasUsableRows } from './register-import-words.ts'

type ReadyImport = Extract<ShownRegisterImport, { status: 'ready' }>

interface RegisterCheckStepProps {
  source: DataSource
  state: ReadyImport
  /** The person wants to import another file. */
  onAgain: () => void
  /** The person wants to choose the columns of the same file again. */
  onBack: () => void
}

export function RegisterCheckStep({ source, state, onAgain, onBack }: RegisterCheckStepProps) {
  const { locale, t } = useTranslation()
  const { item, error } = state
  const file = useStore($importFile, { ssr: 'initial' })
  const discarding = useAction({
    what: 'Discarding the import failed',
    async send(next: () => void) {
      await discardRegisterImport(item)
      next()
    }
  })
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
        <p className="meta wrap-anywhere">
          {item.file_name ?? t('registerImports.noName')}
          {item.bytes !== null && ` · ${formatBytes(item.bytes, locale)}`}
        </p>
      </div>
      {item.state === 'uploading' && <RegisterUploadPanel item={item} />}
      {item.state === 'reading' && <ReadingProgress item={item} />}
      {error && <ErrorNote error={error} />}
      {item.state === 'failed' && item.failure && (
        <div role="alert" className="alert alert-error alert-outline items-start">
          <Icon name="alert" className="mt-0.5 size-5" />
          <div className="flex min-w-0 flex-col gap-1">
            <p>
              {t(`registerImports.failures.${item.failure.code}`, {
                ...(item.failure.row === undefined ? { row: '?' } : { row: item.failure.row }),
                rows: registerLimits.rows,
                columns: 1_000,
                size: formatBytes(registerLimits.bytes, locale)
              })}
            </p>
            <p>{t('registerImports.check.asBefore')}</p>
          </div>
        </div>
      )}
      {item.state === 'checked' && <DryRun source={source} state={state} />}
      {discarding.failure && <ErrorNote error={discarding.failure} />}
      {['uploading', 'reading', 'checked', 'failed'].includes(item.state) && (
        <div className="flex flex-wrap gap-3 border-base-300 border-t pt-4">
          {file.status === 'read' && (item.state === 'checked' || item.state === 'failed') && (
            <BusyButton
              label={t('registerImports.check.back')}
              look="btn-outline"
              isWorking={discarding.isWorking}
              onClick={() => void discarding.start(onBack)}
            />
          )}
          {item.state === 'failed' && (
            <button type="button" className="btn btn-outline" onClick={onAgain}>
              {t('registerImports.run.again')}
            </button>
          )}
          <ConfirmButton
            label={t('registerImports.check.discard')}
            look="btn-outline"
            question={t('registerImports.check.discardQuestion')}
            yes={t('registerImports.check.discardYes')}
            no={t('registerImports.check.discardNo')}
            action={{
              isWorking: discarding.isWorking,
              start: () => discarding.start(onAgain)
            }}
          />
        </div>
      )}
    </section>
  )
}

function ReadingProgress({ item }: { item: RegisterImport }) {
  const { locale, t } = useTranslation()
  const { progress, rows, bytes } = item
  const first = bytes === null ? 'fetching' : 'reading'
  const label = t(`registerImports.progress.${progress?.step ?? first}`)
  const share = progress?.share ?? 0
  const quarter = Math.floor(share * 4) / 4
  return (
    <div className="flex flex-col gap-2">
      <p className="meta tabular">
        {label}
        {progress && ` · ${formatPercent(share, locale)}`}
        {rows > 0 && ` · ${t('registerImports.rows', { count: rows })}`}
      </p>
      <ProgressBar label={label} ratio={progress ? share : undefined} />
      <p role="status" className="sr-only">
        {label} {quarter > 0 && formatPercent(quarter, locale)}
      </p>
      <p className="text-ink-soft">{t('registerImports.progress.leave')}</p>
    </div>
  )
}

function DryRun({ source, state: { item } }: { source: DataSource; state: ReadyImport }) {
  const { t } = useTranslation()
  const { counts, mode, warnings } = item
  const running = useAction({
    what: 'Running the import failed',
    send: (_: undefined) => runRegisterImport(item)
  })
  if (!counts) return null
  const isNothing = changesNothing(item)
  const version = source.current?.number
  const label =
    counts.refused > 0
      ? t('registerImports.check.skipAndRun', { count: counts.refused })
      : t(isNothing ? 'registerImports.check.confirm' : 'registerImports.check.run')
  const run = { ...running, start: () => running.start(undefined) }
  return (
    <>
      <p role="status" className="font-semibold text-lg" data-dry-run>
        {describeDryRun(item, t)}
      </p>
      {isNothing && counts.refused === 0 && version !== undefined && (
        <p className="flex items-start gap-2">
          <Icon name="check" className="mt-0.5 size-5 text-success" />
          {t(`registerImports.check.same.${mode}`, { version })}
        </p>
      )}
      {warnings.length > 0 && (
        <div className="alert alert-warning alert-outline items-start text-base-content">
          <Icon name="alert" className="mt-0.5 size-5" />
          <ul className="flex flex-col gap-1">
            {warnings.map(warning => (
              <li key={warning}>{t(`registerImports.warnings.${warning}`)}</li>
            ))}
          </ul>
        </div>
      )}
      {counts.refused > 0 && <RefusedRegisterRows item={item} />}
      {!hasUsableRows(item) && <p>{t('registerImports.check.nothingUsable')}</p>}
      {running.failure && <ErrorNote error={running.failure} />}
      {hasUsableRows(item) && (
        <div className="flex flex-wrap items-center gap-3">
          {counts.removed > 0 ? (
            <ConfirmButton
              label={label}
              look="btn-primary"
              question={t('registerImports.check.removeQuestion', { count: counts.removed })}
              yes={t('registerImports.check.removeYes', { count: counts.removed })}
              no={t('registerImports.check.removeNo')}
              action={run}
            />
          ) : (
            <BusyButton
              label={label}
              isWorking={running.isWorking}
              onClick={() => void run.start()}
            />
          )}
          {counts.refused > 0 && <p className="meta">{t('registerImports.check.skipHint')}</p>}
        </div>
      )}
    </>
  )
}
