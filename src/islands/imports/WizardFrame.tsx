import { useStore } from '@nanostores/react'
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useTranslation } from '../kit/use-translation.ts'

const steps = ['file', 'read', 'columns', 'check', 'import'] as const
export type WizardStep = (typeof steps)[number]

interface WizardFrameProps {
  step: WizardStep
  state:
    | { status: 'none' | 'loading' | 'missing' | 'ready' }
    | { status: 'failed'; error: AppError }
  /** Shows the import whose id is in the address of the page. */
  open: (id: string | undefined) => Promise<void>
  missingText: string
  /** The person wants to start another import. */
  onAgain: () => void
  isUnsaved: boolean
  /** The step. */
  children: ReactNode
}

// the id of the import is in the address of the page, so that a reload shows the same step
export function WizardFrame(props: WizardFrameProps) {
  const { step, state, missingText, onAgain, isUnsaved, children } = props
  const { t } = useTranslation()
  const session = useStore($session, { ssr: 'initial' })
  const route = useStore($route, { ssr: 'initial' })
  const root = useRef<HTMLDivElement>(null)
  const shown = useRef(step)
  const isIn = session.status === 'in'
  const open = useEffectEvent(() => props.open(importInAddress()))

  // the address also changes by Back and by the links to past imports
  useEffect(() => {
    if (isIn && route) void open()
  }, [isIn, route])

  useEffect(() => {
    if (shown.current === step) return
    shown.current = step
    root.current?.querySelector<HTMLElement>('[data-step-heading]')?.focus()
  }, [step])

  return (
    <div ref={root} className="flex flex-col gap-6" data-step={step}>
      <Steps step={step} />
      {state.status === 'missing' && (
        <section className="sheet flex flex-col items-start gap-4" data-state="missing">
          <h2 data-step-heading tabIndex={-1} className="verdict">
            {t('imports.wizard.missing')}
          </h2>
          <p className="text-ink-soft">{missingText}</p>
          <button type="button" className="btn btn-primary" onClick={onAgain}>
            {t('imports.wizard.again')}
          </button>
        </section>
      )}
      {state.status === 'failed' && (
        <section className="sheet" data-state="error">
          <ErrorNote error={state.error} retry={() => props.open(importInAddress())} />
        </section>
      )}
      {state.status === 'loading' && (
        <section className="sheet min-h-40" data-state="loading">
          <p role="status" className="text-ink-soft">
            {t('common.loading')}
          </p>
        </section>
      )}
      {children}
      <UnsavedGuard isUnsaved={isUnsaved} />
    </div>
  )
}

function Steps({ step }: { step: WizardStep }) {
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
export function writeImportAddress(id: string | undefined): void {
  const search = id === undefined ? '' : `?${new URLSearchParams({ import: id })}`
  history.replaceState(history.state, '', `${location.pathname}${search}`)
}
