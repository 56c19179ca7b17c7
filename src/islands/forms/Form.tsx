import type { ReactNode } from 'react'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { useBrowserReadiness } from './account-form.ts'
import { BusyButton } from './BusyButton.tsx'
import { FormErrors } from './Field.tsx'
import { LazyFormErrorNote } from './LazyFormErrorNote.tsx'
import type { FormState } from './use-form.ts'

const ErrorSummary = lazyComponent(async () => (await import('./ErrorSummary.tsx')).ErrorSummary)

interface FormProps {
  form: Pick<FormState, 'props' | 'errors' | 'focus' | 'failure' | 'isWorking' | 'isDone'>
  submit: string
  /** CSS classes of the button. */
  look?: string
  /**
   * Whether sending derives a key from a password, which takes a second and needs a secure page.
   */
  derivesKey?: boolean
  done?: string | undefined
  /** Whether the form is drawn as a card. */
  isSheet?: boolean
  className?: string
  /** Shown instead of the standard note about the error. */
  failure?: ReactNode
  beside?: ReactNode
  below?: ReactNode
  children: ReactNode
}

/** The page must pass the translations `account` to the island. */
export function Form(props: FormProps) {
  const { form, submit, look, derivesKey, done, isSheet, className, beside } = props
  const { t } = useTranslation()
  const { isReady, obstacle } = useBrowserReadiness()
  const count = Object.keys(form.errors).length
  const button = (
    <BusyButton
      label={submit}
      look={look}
      isWorking={form.isWorking}
      isOff={!isReady || (derivesKey && obstacle !== undefined)}
      needsScript
    />
  )
  return (
    <FormErrors value={form.errors}>
      <form
        {...form.props}
        className={`${isSheet ? 'sheet ' : ''}flex flex-col ${className ?? 'gap-4'}`}
        data-state={isSheet ? 'ready' : undefined}
      >
        {derivesKey && obstacle && (
          <p role="alert" className="alert alert-outline alert-warning">
            {t(`account.${obstacle}`)}
          </p>
        )}
        {count > 3 && <ErrorSummary form={form} />}
        {props.children}
        {props.failure ?? (form.failure && <LazyFormErrorNote error={form.failure} />)}
        {beside ? (
          <div className="flex flex-wrap gap-4">
            {button}
            {beside}
          </div>
        ) : (
          button
        )}
        <p role="status" className="wrap-anywhere text-ink-soft text-sm empty:hidden">
          {form.isWorking && derivesKey ? t('account.securing') : ''}
          {form.isDone ? done : ''}
        </p>
        {props.below}
      </form>
    </FormErrors>
  )
}
