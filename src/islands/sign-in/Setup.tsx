import { useStore } from '@nanostores/react'
import { type FormEvent, useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import { requiredIf } from '../../core/input/validators.ts'
import { type Locale, localizedPath, type T, translator, type Words } from '../../i18n/index.ts'
import { $setup, type Demo, finishSetup, loadSetup } from '../../stores/accounts/setup.ts'
import { EmailField, SignInObstacle, SubmitButton } from '../forms/AccountFields.tsx'
import { emailRule, fieldSentence, useReadiness, usernameRule } from '../forms/account-form.ts'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { ManyFaults, NewPasswordFields, UsernameField } from '../forms/NewAccountFields.tsx'
import { newPasswordRules, weaknessErrors } from '../forms/new-password-rules.ts'
import { keepDraft, takeDraft } from '../forms/page-drafts.ts'
import { useForm, type Values } from '../forms/use-form.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Field } from '../kit/Field.tsx'

interface SetupProps {
  locale: Locale
  /** Namespaces `setup`, `account`, `errors`, `fields` and `common`. */
  words: Words
}

/** The first operator's sheet; once there is one, it says so. */
export function Setup({ locale, words }: SetupProps) {
  const t = translator(locale, words)
  const setup = useStore($setup, { ssr: 'initial' })
  const [code, setCode] = useState('')
  const [outcome, setOutcome] = useState<'none' | 'done' | 'demo-stays'>('none')
  const [demo, setDemo] = useState<string>()

  useEffect(() => {
    const opened = location.hash.slice(1) || String(takeDraft('code') ?? '')
    setCode(opened)
    history.replaceState(history.state, '', location.pathname + location.search)
    // the links that carry the fragment on have read it before
    dispatchEvent(new HashChangeEvent('hashchange'))
    void loadSetup()
    return keepDraft('code', () => opened)
  }, [])

  if (outcome !== 'none') {
    return <Done locale={locale} t={t} stays={outcome === 'demo-stays'} demo={demo} />
  }
  switch (setup.status) {
    case 'loading':
      return (
        <p className="sheet" role="status" data-state="loading">
          {t('common.loading')}
        </p>
      )
    case 'over':
      return <Over locale={locale} t={t} />
    case 'failed':
      return (
        <div className="sheet" data-state="error">
          <ErrorNote error={setup.error} locale={locale} t={t}>
            <button
              type="button"
              className="btn btn-outline self-start"
              onClick={() => void loadSetup()}
            >
              {t('common.retry')}
            </button>
          </ErrorNote>
        </div>
      )
    case 'open': {
      const { company, demo } = setup
      const finish = (wish: 'keep' | 'remove', left: 'none' | 'kept' | 'removed') => {
        setOutcome(wish === 'remove' && left === 'kept' ? 'demo-stays' : 'done')
        setDemo(left === 'kept' ? demo?.address : undefined)
      }
      return <Form {...{ locale, t, code, company, demo, finish }} />
    }
  }
}

interface FormProps {
  locale: Locale
  t: T
  /** Of the link; empty where there was none. */
  code: string
  /** What the company is called so far. */
  company: string
  demo: Demo | undefined
  finish: (demo: 'keep' | 'remove', left: 'none' | 'kept' | 'removed') => void
}

function Form({ locale, t, code, company, demo, finish }: FormProps) {
  const { isReady, obstacle } = useReadiness()
  const form = useForm({
    email: emailRule,
    username: usernameRule,
    ...newPasswordRules('password', t('account.password')),
    company: usernameRule,
    // absent where the code came with the address
    code: requiredIf(({ code }) => code !== undefined)
  })
  const [isWorking, setWorking] = useState(false)
  const [failure, setFailure] = useState<AppError>()
  const isRefused = failure?.code === 'setup_code_wrong' || failure?.code === 'setup_code_expired'
  const asksForCode = code === '' || isRefused

  const weakness = ({ email = '', username = '', password = '', company: name = '' }: Values) =>
    weaknessErrors('password', password, { email, username, company: name })

  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (isWorking) return
    const values = form.submit()
    if (!values) return void form.add(weakness(form.read()))
    setWorking(true)
    setFailure(undefined)
    const { email = '', username = '', password = '', company: name = '' } = values
    const wish = values['demo'] === 'remove' ? 'remove' : 'keep'
    try {
      const weak = await weakness(values)
      if (weak) {
        form.refuse(values, weak)
        setWorking(false)
        return
      }
      const person = { email, username, password, locale }
      const typed = values['code']?.trim() || code
      const left = await finishSetup({ ...person, code: typed, company: name, demo: wish })
      finish(wish, left)
    } catch (cause) {
      const error = asAppError(cause, 'Setting up failed')
      setFailure(error)
      if (error.fields) form.refuse(values, error.fields)
      setWorking(false)
    }
  }

  return (
    <form {...form.props} onSubmit={send} className="sheet flex flex-col gap-8" data-state="ready">
      <SignInObstacle t={t} obstacle={obstacle} />
      <ManyFaults t={t} form={form} />
      <fieldset className="flex flex-col gap-4">
        <legend className="mb-2 font-serif text-xl">{t('setup.person')}</legend>
        <p className="text-ink-soft">{t('setup.personText')}</p>
        <EmailField t={t} form={form} use="email" />
        <UsernameField t={t} form={form} />
        <NewPasswordFields
          t={t}
          form={form}
          chooser={() => {
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
          error={fieldSentence(form.errors, 'company', t)}
        />
        <Address t={t} />
      </fieldset>
      {demo && <DemoChoice t={t} demo={demo} />}
      {asksForCode && (
        <Field
          label={t('setup.code')}
          name="code"
          mono
          spellCheck={false}
          autoComplete="off"
          hint={t('setup.codeHint')}
          error={fieldSentence(form.errors, 'code', t)}
        />
      )}
      {failure && <LazyAccountError error={failure} locale={locale} t={t} />}
      <SubmitButton
        t={t}
        label={t('setup.submit')}
        isWorking={isWorking}
        isReady={isReady}
        obstacle={obstacle}
      />
    </form>
  )
}

/** In parts that no line break may tear. */
const initCommand = ['npm run vidimus -- init', '--domain docs.example.com', '--name Orchard']

/** Which names lead to the company, and what they need so that other people reach it. */
function Address({ t }: { t: T }) {
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

function isLocalHost(): boolean {
  const { hostname } = location
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}

function DemoChoice({ t, demo: { address, account } }: { t: T; demo: Demo }) {
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

function Over({ locale, t }: { locale: Locale; t: T }) {
  return (
    <section className="sheet flex flex-col gap-4" data-state="over">
      <p className="verdict">{t('setup.over')}</p>
      <p className="text-ink-soft">{t('setup.overText')}</p>
      <div className="flex flex-wrap gap-4">
        <a className="btn btn-primary" href={localizedPath(locale, '/sign-in')}>
          {t('setup.signIn')}
        </a>
        <a className="btn btn-outline" href={localizedPath(locale, '/verify')}>
          {t('setup.verify')}
        </a>
      </div>
    </section>
  )
}

interface DoneProps {
  locale: Locale
  t: T
  /** The demonstration could not be removed. */
  stays: boolean
  /** Its address, where it was kept. */
  demo: string | undefined
}

function Done({ locale, t, stays, demo }: DoneProps) {
  // the bar shows who is signed in now
  useEffect(() => void document.dispatchEvent(new Event('vidimus:changed')), [])
  return (
    <section className="sheet flex flex-col gap-4" data-state="done">
      <p className="verdict" role="status">
        {t('setup.done')}
      </p>
      {stays && (
        <p role="alert" className="alert alert-warning alert-outline">
          {t('setup.demoStays')}
        </p>
      )}
      <p>{t('setup.next')}</p>
      {/* whole loads: the company's new name stands in the page's frame */}
      <div className="flex flex-wrap gap-4">
        <a className="btn btn-primary" href={localizedPath(locale, '/deposit')} data-astro-reload>
          {t('setup.deposit')}
        </a>
        <a className="btn btn-outline" href={localizedPath(locale, '/')} data-astro-reload>
          {t('setup.go')}
        </a>
      </div>
      {demo && !stays && (
        <p className="wrap-anywhere text-ink-soft text-sm">
          {t('setup.nextDemo')}{' '}
          <a className="link link-secondary" href={demo} target="_blank" rel="noreferrer">
            {demo}
          </a>
        </p>
      )}
      <p className="text-ink-soft text-sm">
        {t(isLocalHost() ? 'setup.nextLocal' : 'setup.nextPublic')}
      </p>
    </section>
  )
}
