import type { OwnAccount } from '../../contract/users.ts'
import { required } from '../../core/input/validators.ts'
import { requestEmailChange } from '../../stores/accounts/account-changes.ts'
import { EmailField } from '../forms/AccountFields.tsx'
import { emailRule, fieldErrorText } from '../forms/account-form.ts'
import { Form } from '../forms/Form.tsx'
import { PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'

export function ChangeEmail({ user }: { user: OwnAccount }) {
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
        <EmailField form={form} use="email" label={t('me.email.next')} />
        <PasswordField
          label={t('me.email.password')}
          name="emailPassword"
          autoComplete="current-password"
          error={fieldErrorText(form.errors, 'emailPassword', t)}
        />
      </Form>
    </Section>
  )
}
