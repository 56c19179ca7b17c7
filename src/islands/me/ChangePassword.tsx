import type { OwnAccount } from '../../contract/users.ts'
import { not, required, sameAs } from '../../core/input/validators.ts'
import { changePassword } from '../../stores/accounts/account-changes.ts'
import { loadApiKeys } from '../../stores/accounts/api-keys.ts'
import { loadSessions } from '../../stores/accounts/session-list.ts'
import { Form } from '../forms/Form.tsx'
import { NewPasswordField } from '../forms/NewPasswordField.tsx'
import { newPasswordRules, weakPasswordErrors } from '../forms/new-password-rules.ts'
import { HiddenEmailField, PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'

export function ChangePassword({ user }: { user: OwnAccount }) {
  const { t } = useTranslation()
  const { email, username } = user
  const owner = { email, username, company: user.company.name }
  const form = useForm({
    what: 'Changing the password failed',
    rules: {
      password: required,
      ...newPasswordRules('next', t('me.password.next'), not(sameAs('password'), 'different'))
    },
    slowErrors: ({ next = '' }) => weakPasswordErrors('next', next, owner),
    codeErrors: { password_wrong: { password: { rule: 'wrong' } } },
    isEmptiedBySuccess: true,
    async send({ password = '', next = '', keepsKeys }) {
      await changePassword({ email, password, next, keepsKeys: keepsKeys === 'yes' })
      void loadSessions()
      void loadApiKeys({})
    }
  })
  return (
    <Section id="change-password" title={t('me.password.title')} note={t('me.password.effect')}>
      <Form form={form} submit={t('me.password.submit')} derivesKey done={t('me.password.done')}>
        <HiddenEmailField email={email} />
        <PasswordField
          label={t('me.password.present')}
          name="password"
          autoComplete="current-password"
        />
        <NewPasswordField label={t('me.password.next')} name="next" owner={() => owner} />
        <PasswordField label={t('me.password.repeat')} name="repeat" autoComplete="new-password" />
        <label className="flex min-h-8 items-center gap-3">
          <input type="checkbox" name="keepsKeys" value="yes" className="checkbox" />
          {t('me.password.keepKeys')}
        </label>
        <p className="font-serif text-lg">{t('account.stays')}</p>
      </Form>
    </Section>
  )
}
