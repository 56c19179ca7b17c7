import { requiredIf } from '../../core/input/validators.ts'
import { type DemoCompany, finishSetup } from '../../stores/accounts/setup.ts'
import { EmailField } from '../forms/AccountFields.tsx'
import { emailRule, usernameRule } from '../forms/account-form.ts'
import { Field } from '../forms/Field.tsx'
import { Form } from '../forms/Form.tsx'
import { NewPasswordFields, UsernameField } from '../forms/NewAccountFields.tsx'
import { newPasswordRules, weakPasswordErrors } from '../forms/new-password-rules.ts'
import { useForm } from '../forms/use-form.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { isLocalHost } from './SetupOutcome.tsx'

interface SetupFormProps {
  code: string
  company: string
  demo: DemoCompany | undefined
  finish: (demo: 'keep' | 'remove', left: 'none' | 'kept' | 'removed') => void
}

export function SetupForm({ code, company, demo, finish }: SetupFormProps) {
  const { locale, t } = useTranslation()
  const form = useForm({
    what: 'Setting up failed',
    rules: {
      email: emailRule,
      username: usernameRule,
      ...newPasswordRules('password', t('account.password')),
      company: usernameRule,
      // the field does not exist where the address has the code
      code: requiredIf(({ code }) => code !== undefined)
    },
    slowErrors: ({ email = '', username = '', password = '', company: name = '' }) =>
      weakPasswordErrors('password', password, { email, username, company: name }),
    async send({ email = '', username = '', password = '', company: name = '', ...values }) {
      const wish = values['demo'] === 'remove' ? 'remove' : 'keep'
      const person = { email, username, password, locale }
      const typed = values['code']?.trim() || code
      finish(wish, await finishSetup({ ...person, code: typed, company: name, demo: wish }))
    }
  })
  const refusal = form.failure?.code
  const isRefused = refusal === 'setup_code_wrong' || refusal === 'setup_code_expired'
  const asksForCode = code === '' || isRefused

  return (
    <Form form={form} submit={t('setup.submit')} isSheet derivesKey className="gap-8">
      <fieldset className="flex flex-col gap-4">
        <legend className="mb-2 font-serif text-xl">{t('setup.person')}</legend>
        <p className="text-ink-soft">{t('setup.personText')}</p>
        <EmailField use="email" />
        <UsernameField />
        <NewPasswordFields
          owner={() => {
            const { email = '', username = '', company: name = '' } = form.read()
            return { email, username, company: name }
          }}
        />
      </fieldset>
      <fieldset className="flex flex-col gap-4">
        <legend className="mb-2 font-serif text-xl">{t('setup.company')}</legend>
        <Field
          label={t('setup.companyName')}
          name="company"
          autoComplete="organization"
          spellCheck={false}
          hint={t('setup.companyHint')}
          initial={company}
        />
        <Address />
      </fieldset>
      {demo && <DemoChoice demo={demo} />}
      {asksForCode && (
        <Field
          label={t('setup.code')}
          name="code"
          mono
          spellCheck={false}
          autoComplete="off"
          hint={t('setup.codeHint')}
        />
      )}
    </Form>
  )
}

// the line may break only between two parts
const initCommand = ['npm run vidimus -- init', '--domain docs.example.com', '--name Orchard']

function Address() {
  const { t } = useTranslation()
  const { host } = location
  const isLocal = isLocalHost()
  return (
    <div className="flex flex-col gap-1.5">
      <p className="label-text">{t('setup.address')}</p>
      <p className="fingerprint">{host}</p>
      <p className="text-ink-soft text-sm">
        {t('setup.addressText', { host, api: `api.${host}` })}
      </p>
      <p className="text-ink-soft text-sm">
        {t(isLocal ? 'setup.addressLocal' : 'setup.addressPublic')}
      </p>
      {isLocal && (
        <p className="fingerprint flex flex-wrap gap-x-2 text-ink-soft">
          {initCommand.map(part => (
            <span key={part}>{`${part} `}</span>
          ))}
        </p>
      )}
    </div>
  )
}

function DemoChoice({ demo: { address, account } }: { demo: DemoCompany }) {
  const { t } = useTranslation()
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 font-serif text-xl">{t('setup.demo')}</legend>
      <p className="wrap-anywhere text-ink-soft">
        {t('setup.demoText')}{' '}
        <a className="link link-secondary" href={address} target="_blank" rel="noreferrer">
          {address}
        </a>
      </p>
      {account && (
        <p className="wrap-anywhere text-ink-soft text-sm">
          {t('setup.demoAccount', { email: account.email, password: account.password })}
        </p>
      )}
      {(['keep', 'remove'] as const).map(wish => (
        <label key={wish} className="flex min-h-8 items-center gap-3">
          <input
            type="radio"
            name="demo"
            value={wish}
            defaultChecked={wish === 'keep'}
            className="radio"
          />
          {t(`setup.${wish}`)}
        </label>
      ))}
    </fieldset>
  )
}
