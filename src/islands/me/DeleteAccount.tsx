import { useEffect, useRef, useState } from 'react'
import type { UserInfo } from '../../contract/users.ts'
import { required } from '../../core/input/validators.ts'
import { localizedPath } from '../../i18n/index.ts'
import { deleteAccount } from '../../stores/accounts/account-changes.ts'
import { fieldSentence } from '../forms/account-form.ts'
import { Form } from '../forms/Form.tsx'
import { PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { Section } from '../kit/Section.tsx'
import { useFocusBack } from '../kit/use-focus-back.ts'
import { useWords } from '../kit/use-words.ts'

interface DeleteAccountProps {
  user: UserInfo
}

/**
 * Form that deletes the account. States what is deleted and what is not, and asks for the password.
 */
export function DeleteAccount({ user }: DeleteAccountProps) {
  const { t } = useWords()
  const [isOpen, setOpen] = useState(false)
  const opener = useFocusBack(isOpen)
  return (
    <Section id="delete-account" title={t('me.delete.title')} note={t('me.delete.effect')}>
      {isOpen ? (
        <Question user={user} stay={() => setOpen(false)} />
      ) : (
        <button
          ref={opener}
          type="button"
          className="btn btn-outline self-start"
          onClick={() => setOpen(true)}
        >
          {t('me.delete.open')}
        </button>
      )}
    </Section>
  )
}

function Question({ user, stay }: DeleteAccountProps & { stay: () => void }) {
  const { locale, t } = useWords()
  const form = useForm({
    what: 'Deleting the account failed',
    rules: { deletePassword: required },
    codeErrors: { password_wrong: { deletePassword: { rule: 'wrong' } } },
    async send({ deletePassword: password = '' }) {
      await deleteAccount({ email: user.email, password })
      // loads a new document, so that no data of the person stays in memory
      location.assign(localizedPath(locale, '/'))
      await new Promise(() => {})
    }
  })
  const field = useRef<HTMLInputElement>(null)

  useEffect(() => field.current?.focus(), [])

  return (
    <Form
      form={form}
      submit={t('me.delete.confirm')}
      look="btn-error"
      derivesKey
      beside={
        <button type="button" className="btn btn-ghost" onClick={stay}>
          {t('me.delete.stay')}
        </button>
      }
    >
      <p className="alert alert-error alert-outline wrap-anywhere">
        {t('me.delete.question', { email: user.email })}
      </p>
      <PasswordField
        ref={field}
        label={t('account.password')}
        name="deletePassword"
        autoComplete="current-password"
        error={fieldSentence(form.errors, 'deletePassword', t)}
      />
    </Form>
  )
}
