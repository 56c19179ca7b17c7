import { useStore } from '@nanostores/react'
import { useEffect, useId, useRef } from 'react'
import { required } from '../../core/input/validators.ts'
import { confirmPassword } from '../../stores/confirmation.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { Form } from './Form.tsx'
import { HiddenEmailField, PasswordField } from './PasswordField.tsx'
import { useForm } from './use-form.ts'

// true if the password was right, false if the person has cancelled
export function PasswordDialog({ answer }: { answer: (isConfirmed: boolean) => void }) {
  const { t } = useTranslation()
  const id = useId()
  const user = useStore($user, { ssr: 'initial' })
  const dialog = useRef<HTMLDialogElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const isConfirmed = useRef(false)
  const form = useForm({
    what: 'Confirming the password failed',
    rules: { confirmedPassword: required },
    codeErrors: { password_wrong: { confirmedPassword: { rule: 'wrong' } } },
    async send({ confirmedPassword = '' }) {
      await confirmPassword(confirmedPassword)
      isConfirmed.current = true
      dialog.current?.close()
    }
  })

  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
    field.current?.focus()
  }, [])

  return (
    <dialog
      ref={dialog}
      className="confirm-dialog"
      aria-labelledby={id}
      onClose={event => {
        // a dialog around this one stays open
        event.stopPropagation()
        answer(isConfirmed.current)
      }}
    >
      <h2 id={id} className="section-title">
        {t('forms.password.title')}
      </h2>
      <p className="mb-4 text-ink-soft">{t('forms.password.text')}</p>
      <Form
        form={form}
        submit={t('forms.password.confirm')}
        derivesKey
        beside={
          <button type="button" className="btn btn-ghost" onClick={() => dialog.current?.close()}>
            {t('forms.password.cancel')}
          </button>
        }
      >
        {user && <HiddenEmailField email={user.email} />}
        <PasswordField
          ref={field}
          label={t('account.password')}
          name="confirmedPassword"
          autoComplete="current-password"
        />
      </Form>
    </dialog>
  )
}
