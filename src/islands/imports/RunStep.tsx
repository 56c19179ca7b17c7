import { type Import, zeroImportCounts } from '../../contract/imports.ts'
import type { AppError } from '../../contract/kit/errors.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { languageTag } from '../../i18n/index.ts'
import { loadSourceFileFormat } from '../../stores/imports/import-memory.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { ImportProgress } from './ImportProgress.tsx'
import { RowList } from './RowList.tsx'
import { UndoImport } from './UndoImport.tsx'
import type { ImportWizardProps } from './wizard-props.ts'

interface RunStepProps extends ImportWizardProps {
  item: Import
  error: AppError | undefined
  onAgain: () => void
}

const titles = {
  running: 'title',
  done: 'doneTitle',
  undoing: 'undoingTitle',
  undone: 'undoneTitle'
} as const

export function RunStep(props: RunStepProps) {
  const { kind, item, error, result, next, undoQuestion, undoneText, resultText, onAgain } = props
  const { locale, t } = useTranslation()
  const { state } = item
  if (state !== 'running' && state !== 'done' && state !== 'undoing' && state !== 'undone')
    return null
  const title = t(`imports.wizard.run.${titles[state]}`)
  return (
    <>
      <section
        className="sheet flex flex-col gap-4"
        aria-labelledby="import-run"
        data-state={state}
      >
        <div>
          <h2 id="import-run" data-step-heading tabIndex={-1} className="section-title">
            {title}
          </h2>
          <p className="meta wrap-anywhere">{item.file_name}</p>
        </div>
        <p role="status" className="sr-only">
          {title}
        </p>
        {(state === 'running' || state === 'undoing') && (
          <>
            <ImportProgress
              label={title}
              done={item.progress?.done ?? 0}
              total={item.progress?.total ?? item.rows}
            />
            <p className="text-ink-soft">{t('imports.wizard.run.note')}</p>
          </>
        )}
        {error && <ErrorNote error={error} />}
        {/* a run that has failed is not done, so this is the failure of an undo */}
        {state === 'done' && item.failure && (
          <div role="alert" className="alert alert-error alert-outline items-start">
            <Icon name="alert" className="mt-0.5 size-5" />
            <p>{t('imports.wizard.run.undoFailed')}</p>
          </div>
        )}
        {state === 'undone' && item.undone && <p>{undoneText(item.undone)}</p>}
        {state === 'done' && item.result && (
          <Outcome {...{ item, resultText }} result={item.result} />
        )}
        {state === 'done' && !item.result && (
          <div role="alert" className="alert alert-warning alert-outline items-start">
            <Icon name="alert" className="mt-0.5 size-5" />
            <p>{t('imports.wizard.run.notCounted')}</p>
          </div>
        )}
        {state === 'done' && (
          <div className="flex flex-wrap items-center gap-3">
            <UndoImport
              kind={kind}
              item={item}
              label={t('imports.wizard.run.undo')}
              undoQuestion={undoQuestion}
            />
            <p className="meta">
              {t('imports.wizard.run.undoUntil', {
                time: formatDateTime(new Date(item.expires), locale)
              })}
            </p>
          </div>
        )}
        {(state === 'done' || state === 'undone') && (
          <div className="flex flex-wrap items-center gap-4">
            {result}
            <button type="button" className="btn btn-outline btn-sm" onClick={onAgain}>
              {t('imports.wizard.again')}
            </button>
          </div>
        )}
      </section>
      {state === 'done' && next(item)}
      {(state === 'done' || state === 'undone') && (
        <section className="sheet flex flex-col gap-4" aria-labelledby="import-rows">
          <h2 id="import-rows" className="section-title">
            {t('imports.wizard.run.rows')}
          </h2>
          <RowList {...props} sourceFormat={loadSourceFileFormat(item.id)} canCorrect={false} />
        </section>
      )}
    </>
  )
}

interface OutcomeProps extends Pick<RunStepProps, 'item' | 'resultText'> {
  result: NonNullable<Import['result']>
}

function Outcome({ item, result, resultText }: OutcomeProps) {
  const { locale, t } = useTranslation()
  const counts = item.counts ?? zeroImportCounts
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const lines = [
    { name: 'new', checked: counts.new, counted: result.created },
    { name: 'changed', checked: counts.changed, counted: result.changed },
    { name: 'unchanged', checked: counts.unchanged, counted: result.unchanged },
    { name: 'skipped', checked: counts.refused + counts.skipped, counted: result.skipped }
  ] as const
  return (
    <>
      {result.differs ? (
        <div role="alert" className="alert alert-error alert-outline items-start">
          <Icon name="alert" className="mt-0.5 size-5" />
          <p>{t('imports.wizard.run.differs')}</p>
        </div>
      ) : (
        <p className="flex items-start gap-2">
          <Icon name="check" className="mt-0.5 size-5 text-success" />
          {t('imports.wizard.run.equal', { what: resultText(result) })}
        </p>
      )}
      <table className="w-full max-w-lg text-sm" aria-label={t('imports.wizard.run.counts')}>
        <thead>
          <tr>
            <td />
            <th scope="col" className="label-text py-2 text-end">
              {t('imports.wizard.run.checked')}
            </th>
            <th scope="col" className="label-text py-2 ps-4 text-end">
              {t('imports.wizard.run.counted')}
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, checked, counted }) => (
            <tr key={name} className="border-base-300 border-t" data-count={name}>
              <th scope="row" className="py-2 text-start font-medium">
                {name === 'skipped'
                  ? t('imports.wizard.run.skipped')
                  : t(`imports.wizard.check.verdicts.${name}`)}
              </th>
              <td className="text-end">{numbers.format(checked)}</td>
              <td
                className={`ps-4 text-end ${checked === counted ? '' : 'font-semibold text-error'}`}
              >
                {numbers.format(counted)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
