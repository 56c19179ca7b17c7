import type { OwnAccount } from '../../contract/users.ts'
import { required } from '../../core/input/validators.ts'
import { requestEmailChange } from '../../stores/accounts/account-changes.ts'
import { EmailField } from '../forms/AccountFields.tsx'
import { emailRule } from '../forms/account-form.ts'
import { Form } from '../forms/Form.tsx'
import { PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { ChangePassword } from './ChangePassword.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { ExportOwnData } from './ExportOwnData.tsx'
import { SessionList } from './SessionList.tsx'

// the page is for everybody, and few people let programs deposit
const ApiKeys = lazyComponent(async () => (await import('../api-keys/ApiKeys.tsx')).ApiKeys)

export function AccountForms({ user }: { user: OwnAccount }) {
  return (
    <>
      <ChangePassword user={user} />
      <ChangeEmail user={user} />
      <SessionList />
      {!user.pending && <ApiKeys />}
      <ExportOwnData />
      <DeleteAccount user={user} />
    </>
  )
}

function ChangeEmail({ user }: { user: OwnAccount }) {
  const { t } = useTranslation()
  const form = useForm({
    what: 'Changing the e-mail failed',
    rules: { email: emailRule, emailPassword: required },
    codeErrors: { password_wrong: { emailPassword: { rule: 'wrong' } } },
    isEmptiedBySuccess: true,
    async send({ email = '', emailPassword: password = '' }) {
      const delivery = await requestEmailChange({ email: user.email, password, next: email })
      return t(`me.email.sent.${delivery}`, { email: email.trim() })
    }
  })
  return (
    <Section id="change-email" title={t('me.email.title')} note={t('me.email.present')}>
      <Form form={form} submit={t('me.email.submit')} derivesKey done={form.result}>
        <EmailField use="email" label={t('me.email.next')} />
        <PasswordField
          label={t('me.email.password')}
          name="emailPassword"
          autoComplete="current-password"
        />
      </Form>
    </Section>
  )
}
