import { isLocale, locales } from '../../i18n/index.ts'
import { createCompany } from '../../stores/admin/companies.ts'
import { navigate } from '../../stores/navigation.ts'
import { EmailField } from '../forms/AccountFields.tsx'
import { emailRule, fieldErrorText } from '../forms/account-form.ts'
import { Form } from '../forms/Form.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { SelectField } from '../forms/SelectField.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { Field } from '../kit/Field.tsx'
import { pageHref } from '../kit/page-href.ts'
import { showMessage } from '../kit/show-message.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'

/**
 * The form that creates a company with its first domain and its first administrator. Afterwards
 * opens the page of the company.
 */
export const CreateCompany = withTranslation(function CreateCompany() {
  const { locale, t } = useTranslation()
  const check = useInputCheck('createCompany')
  const form = useForm({
    what: 'Creating the company failed',
    rules: { email: emailRule },
    inputErrors: values => check(inputOf(values)),
    focusAfterFailure: 'host',
    async send(values, key) {
      const input = inputOf(values)
      const { id, name, invitation } = await createCompany(input, key)
      await navigate(pageHref(locale, 'company', { company: id }), { replace: true })
      const done = invitation ? (invitation.link ? 'doneLink' : 'done') : 'doneWaiting'
      showMessage(t(`companies.create.${done}`, { company: name, email: input.email }))
    }
  })
  return (
    <>
      <Form form={form} submit={t('companies.create.submit')} isSheet className="max-w-2xl gap-6">
        <p className="text-ink-soft">{t('companies.create.intro')}</p>
        <Field
          label={t('companies.create.name')}
          name="name"
          autoComplete="off"
          hint={t('companies.nameHint')}
          error={fieldErrorText(form.errors, 'name', t)}
        />
        <Field
          label={t('companies.create.host')}
          name="host"
          autoComplete="off"
          spellCheck={false}
          hint={t('companies.create.hostHint')}
          error={fieldErrorText(form.errors, 'host', t)}
        />
        <EmailField form={form} use="email" label={t('companies.create.email')} />
        <SelectField
          label={t('companies.create.language')}
          name="locale"
          initial={locale}
          hint={t('companies.create.languageHint')}
          options={locales.map(value => ({
            value,
            label: t(`companies.create.languages.${value}`)
          }))}
        />
      </Form>
      <UnsavedGuard form={form} />
      <PasswordPrompt />
    </>
  )
})

function inputOf({ name = '', host = '', email = '', locale }: FormValues) {
  return {
    name: name.trim(),
    host: host.trim().toLowerCase(),
    email: email.trim(),
    locale: isLocale(locale) ? locale : undefined
  }
}
