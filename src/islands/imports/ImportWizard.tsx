import { useStore } from '@nanostores/react'
import { useEffect, useRef, useState } from 'react'
import { $importFile } from '../../stores/imports/import-file.ts'
import { $import, closeImport, openImport } from '../../stores/imports/imports.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { CheckStep } from './CheckStep.tsx'
import { ColumnsStep } from './ColumnsStep.tsx'
import { FileFormatStep } from './FileFormatStep.tsx'
import { FileStep } from './FileStep.tsx'
import { RunStep } from './RunStep.tsx'
import type { ImportWizardProps } from './wizard-props.ts'

const steps = ['file', 'read', 'columns', 'check', 'import'] as const
type Step = (typeof steps)[number]

// the id of the import is in the address of the page, so that a reload shows the same step
export function ImportWizard(props: ImportWizardProps) {
  const { kind } = props
  const { t } = useTranslation()
  const state = useStore($import, { ssr: 'initial' })
  const file = useStore($importFile, { ssr: 'initial' })
  const session = useStore($session, { ssr: 'initial' })
  const route = useStore($route, { ssr: 'initial' })
  const [isNaming, setNaming] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const step = stepOf()
  const shown = useRef(step)
  const isIn = session.status === 'in'

  function stepOf(): Step {
    if (state.status === 'none') {
      if (file.status !== 'read') return 'file'
      return isNaming ? 'columns' : 'read'
    }
    if (state.status !== 'ready') return 'check'
    const { state: phase } = state.item
    return ['running', 'done', 'undoing', 'undone'].includes(phase) ? 'import' : 'check'
  }

  // the address also changes by Back and by the links to past imports
  useEffect(() => {
    if (isIn && route) void openImport(kind, importInAddress())
  }, [isIn, route, kind])

  useEffect(() => {
    if (shown.current === step) return
    shown.current = step
    root.current?.querySelector<HTMLElement>('[data-step-heading]')?.focus()
  }, [step])

  const again = () => {
    closeImport()
    setNaming(false)
    writeAddress(undefined)
  }

  return (
    <div ref={root} className="flex flex-col gap-6" data-step={step}>
      <Steps step={step} />
      {state.status === 'missing' && (
        <section className="sheet flex flex-col items-start gap-4" data-state="missing">
          <h2 data-step-heading tabIndex={-1} className="verdict">
            {t('imports.wizard.missing')}
          </h2>
          <p className="text-ink-soft">{t('imports.wizard.missingText')}</p>
          <button type="button" className="btn btn-primary" onClick={again}>
            {t('imports.wizard.again')}
          </button>
        </section>
      )}
      {state.status === 'failed' && (
        <section className="sheet" data-state="error">
          <ErrorNote error={state.error} retry={() => openImport(kind, importInAddress())} />
        </section>
      )}
      {state.status === 'loading' && (
        <section className="sheet min-h-40" data-state="loading">
          <p role="status" className="text-ink-soft">
            {t('common.loading')}
          </p>
        </section>
      )}
      {step === 'file' && <FileStep {...props} onRead={() => setNaming(false)} />}
      {step === 'read' && file.status === 'read' && (
        <FileFormatStep kind={kind} file={file} onNext={() => setNaming(true)} onBack={again} />
      )}
      {step === 'columns' && file.status === 'read' && (
        <ColumnsStep
          {...props}
          file={file}
          onBack={() => setNaming(false)}
          onCreated={writeAddress}
        />
      )}
      {step === 'check' && state.status === 'ready' && (
        <CheckStep
          {...props}
          state={state}
          onAgain={again}
          onBack={() => writeAddress(undefined)}
        />
      )}
      {step === 'import' && state.status === 'ready' && (
        <RunStep {...props} item={state.item} error={state.error} onAgain={again} />
      )}
      <UnsavedGuard
        isUnsaved={
          state.status === 'none'
            ? file.status === 'read'
            : state.status === 'ready' && state.item.state === 'open' && file.status === 'read'
        }
      />
    </div>
  )
}

function Steps({ step }: { step: Step }) {
  const { t } = useTranslation()
  const at = steps.indexOf(step)
  const name = t(`imports.wizard.steps.${step}`)
  return (
    <nav aria-label={t('imports.wizard.steps.label')}>
      <p className="meta sm:hidden">
        {t('imports.wizard.steps.now', { step: at + 1, count: steps.length, name })}
      </p>
      <ol className="meta flex flex-wrap gap-x-6 gap-y-1 max-sm:hidden">
        {steps.map((each, number) => (
          <li
            key={each}
            aria-current={each === step ? 'step' : undefined}
            className={each === step ? 'font-semibold text-base-content' : ''}
          >
            {number + 1}. {t(`imports.wizard.steps.${each}`)}
          </li>
        ))}
      </ol>
    </nav>
  )
}

function importInAddress(): string | undefined {
  return new URLSearchParams(location.search).get('import') ?? undefined
}

// replaced, so that Back leads to the previous page
function writeAddress(id: string | undefined): void {
  const search = id === undefined ? '' : `?${new URLSearchParams({ import: id })}`
  history.replaceState(history.state, '', `${location.pathname}${search}`)
}
