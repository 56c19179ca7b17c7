import { useStore } from '@nanostores/react'
import { useEffect, useState } from 'react'
import { normalizeTypedHost } from '../../core/input/domain-name.ts'
import { isLocale, locales } from '../../i18n/index.ts'
import { createCompany } from '../../stores/admin/companies.ts'
import { isServedAtLocalhostOnly } from '../../stores/admin/domains.ts'
import { navigate } from '../../stores/navigation.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { EmailField } from '../forms/AccountFields.tsx'
import { emailRule } from '../forms/account-form.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { CreateForm } from '../forms/CreateForm.tsx'
import { Field } from '../forms/Field.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { pageHref } from '../kit/page-href.ts'
import { showMessage } from '../kit/show-message.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'

export const CreateCompany = withTranslation(function CreateCompany() {
  const { locale, t } = useTranslation()
  const check = useInputCheck('createCompany')
  const [host, setHost] = useState('')
  const own = useOwnCompanyWithoutHost()
  const form = useForm({
    what: 'Creating the company failed',
    rules: { email: emailRule },
    inputErrors: values => check(inputOf(values)),
    focusAfterFailure: 'host',
    codeErrors: {
      host_taken: { host: { rule: 'taken' } },
      host_not_allowed: { host: { rule: 'host_refused' } }
    },
    async send(values, key) {
      const input = inputOf(values)
      const { id, name, invitation } = await createCompany(input, key)
      await navigate(pageHref(locale, 'company', { company: id }), { replace: true })
      const done = invitation ? (invitation.link ? 'doneLink' : 'done') : 'doneWaiting'
      showMessage(t(`companies.create.${done}`, { company: name, email: input.email }))
    }
  })
  return (
    <CreateForm form={form} submit={t('companies.create.submit')}>
      <p className="text-ink-soft">{t('companies.create.intro')}</p>
      {own !== undefined && (
        <div className="alert alert-info alert-outline flex flex-col items-start gap-2 text-base-content">
          <p>{t('companies.create.ownHost')}</p>
          <a
            className="btn btn-outline btn-sm"
            href={pageHref(locale, 'createDomain', { company: own })}
          >
            {t('companies.create.addOwnHost')}
          </a>
        </div>
      )}
      <Field
        label={t('companies.create.name')}
        name="name"
        autoComplete="off"
        hint={t('companies.nameHint')}
      />
      <Field
        label={t('companies.create.host')}
        name="host"
        autoComplete="off"
        spellCheck={false}
        hint={t('companies.create.hostHint')}
        error={form.errors['host']?.rule === 'taken' ? t('companies.create.hostTaken') : undefined}
        onInput={event => setHost(normalizeTypedHost(event.currentTarget.value))}
      >
        <p role="status" className="wrap-anywhere text-ink-soft text-sm empty:hidden">
          {host.includes('.') && t('companies.create.address', { host })}
        </p>
      </Field>
      <EmailField use="email" label={t('companies.create.email')} />
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
    </CreateForm>
  )
})

// `localhost` stays an address of the operator's own company until it has a verified domain
function useOwnCompanyWithoutHost(): string | undefined {
  const user = useStore($user, { ssr: 'initial' })
  const [found, setFound] = useState<string>()
  const id = user?.company.id
  useEffect(() => {
    if (id === undefined) return
    isServedAtLocalhostOnly(id).then(
      isLocal => setFound(isLocal ? id : undefined),
      // only a hint
      () => {}
    )
  }, [id])
  return found
}

function inputOf({ name = '', host = '', email = '', locale }: FormValues) {
  return {
    name: name.trim(),
    host: normalizeTypedHost(host),
    email: email.trim(),
    locale: isLocale(locale) ? locale : undefined
  }
}
