import type { ReactNode } from 'react'
import { useWords } from '../kit/use-words.ts'
import { useReadiness } from './account-form.ts'
import { BusyButton } from './BusyButton.tsx'
import { LazyAccountError } from './LazyAccountError.tsx'
import type { Form as FormState } from './use-form.ts'

interface FormProps {
  form: Pick<FormState, 'props' | 'errors' | 'failure' | 'isWorking' | 'isDone'>
  /** The words of the button. */
  submit: string
  /** Classes of the button. */
  look?: string
  /** Whether a password is turned into a key, which takes a second and needs a secure page. */
  derivesKey?: boolean
  /** Said when the form has succeeded. */
  done?: string | undefined
  /** Whether the form is a sheet of its own. */
  isSheet?: boolean
  className?: string
  /** Replaces the note about what has failed. */
  failure?: ReactNode
  /** What stands beside the button, and below it. */
  beside?: ReactNode
  below?: ReactNode
  children: ReactNode
}

/** Draws a form: its fields, what has failed, its button, and what it is doing. Words: `account`. */
export function Form(props: FormProps) {
  const { form, submit, look, derivesKey, done, isSheet, className, beside } = props
  const { t } = useWords()
  const { isReady, obstacle } = useReadiness()
  const count = Object.keys(form.errors).length
  const button = (
    <BusyButton
      label={submit}
      look={look}
      isWorking={form.isWorking}
      isOff={!isReady || (derivesKey && obstacle !== undefined)}
    />
  )
  return (
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
      {count > 3 && (
        <p role="alert" className="alert alert-error alert-outline">
          {t('account.attention', { count })}
        </p>
      )}
      {props.children}
      {props.failure ?? (form.failure && <LazyAccountError error={form.failure} />)}
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
  )
}
