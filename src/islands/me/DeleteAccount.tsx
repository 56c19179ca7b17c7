import { useState } from 'react'
import type { OwnAccount } from '../../contract/users.ts'
import { required, type Validator } from '../../core/input/validators.ts'
import { localizedPath } from '../../i18n/index.ts'
import { deleteOwnAccount } from '../../stores/accounts/account-changes.ts'
import { Field } from '../forms/Field.tsx'
import { InPlaceEditor, InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface DeleteAccountProps {
  user: OwnAccount
}

export function DeleteAccount({ user }: DeleteAccountProps) {
  const { t } = useTranslation()
  return (
    <Section id="delete-account" title={t('me.delete.title')} note={t('me.delete.effect')}>
      <InPlaceEditor label={t('me.delete.open')} look="btn-outline">
        {close => <Question user={user} close={close} />}
      </InPlaceEditor>
    </Section>
  )
}

function Question({ user, close }: DeleteAccountProps & { close: () => void }) {
  const { locale, t } = useTranslation()
  const { name } = user.company
  const [isLastAdministrator, setLastAdministrator] = useState(false)
  const isName: Validator = value =>
    String(value ?? '')
      .trim()
      .toLowerCase() === name.toLowerCase()
      ? undefined
      : { rule: 'same_as', limit: name }
  const form = useForm({
    what: 'Deleting the account failed',
    rules: { deletePassword: required, ...(isLastAdministrator && { company: isName }) },
    codeErrors: { password_wrong: { deletePassword: { rule: 'wrong' } } },
    handle({ code }) {
      if (code !== 'last_administrator' || isLastAdministrator) return false
      setLastAdministrator(true)
      return true
    },
    async send({ deletePassword: password = '', company }) {
      await deleteOwnAccount({ email: user.email, password, company })
      // loads a new document, so that no data of the person stays in memory
      location.assign(`${localizedPath(locale, '/')}#account-deleted`)
      await new Promise(() => {})
    }
  })
  return (
    <InPlaceForm
      form={form}
      submit={t('me.delete.confirm')}
      look="btn-error"
      derivesKey
      cancel={t('me.delete.stay')}
      close={close}
    >
      <p className="alert alert-error alert-outline wrap-anywhere">
        {t('me.delete.question', { email: user.email })}
      </p>
      <PasswordField
        label={t('account.password')}
        name="deletePassword"
        autoComplete="current-password"
      />
      {isLastAdministrator && (
        <>
          <p className="alert alert-warning alert-outline wrap-anywhere" role="alert">
            {t('me.delete.last', { company: name })}
          </p>
          <Field
            label={t('me.delete.company', { company: name })}
            name="company"
            autoComplete="off"
            spellCheck={false}
          />
        </>
      )}
    </InPlaceForm>
  )
}
