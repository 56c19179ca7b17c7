import { type FormEvent, useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { Delivery } from '../../contract/users.ts'
import { type Locale, type T, translator, type Words } from '../../i18n/index.ts'
import { type MailLink, requestReset, resetPassword } from '../../stores/accounts/mail-links.ts'
import { EmailField } from '../forms/AccountFields.tsx'
import {
  continueAfterSignIn,
  emailRule,
  prefillFromQuery,
  useReadiness
} from '../forms/account-form.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { useForm } from '../forms/use-form.ts'
import { LazyNewPasswordForm } from './LazyNewPasswordForm.tsx'
import { LinkOutcome } from './LinkOutcome.tsx'
import { closedLinkState, linkStateFromError, useMailLink } from './use-mail-link.ts'

interface ResetPasswordProps {
  locale: Locale
  /** Namespaces `links`, `account`, `errors`, `fields` and `common`. */
  words: Words
  company: string
}

/** Without a link it asks where to send one; with one it takes the new password. */
export function ResetPassword({ locale, words, company }: ResetPasswordProps) {
  const t = translator(locale, words)
  const link = useMailLink('reset')
  const [heeded, setOutcome] = useState<'used' | 'over'>()
  const handleFailure = (error: AppError) => {
    setOutcome(linkStateFromError(error))
    return linkStateFromError(error) !== undefined
  }
  if (link === 'loading') return <div className="sheet" data-state="loading" />
  const outcome = heeded ?? closedLinkState(link)
  if (link === 'none' || outcome) {
    const note = t(outcome ? `links.reset.${outcome}` : 'links.reset.ask')
    return <Ask {...{ locale, t, note }} email={link === 'none' ? undefined : link.email} />
  }
  return <Choose {...{ locale, t, company, link, handleFailure }} />
}

interface AskProps {
  locale: Locale
  t: T
  note: string
  /** Of the link that opens nothing any more. */
  email: string | undefined
}

function Ask({ locale, t, note, email: known }: AskProps) {
  const { isReady } = useReadiness()
  const form = useForm({ email: emailRule })
  const [state, setState] = useState<
    'idle' | 'working' | { sentTo: string; delivery: Delivery } | AppError
  >('idle')
  const [typed, setTyped] = useState(known)
  const { ref } = form.props

  useEffect(() => prefillFromQuery(ref.current, ['email']), [ref])

  const send = async (event: FormEvent) => {
    event.preventDefault()
    const values = form.submit()
    if (!values || state === 'working') return
    setState('working')
    const { email = '' } = values
    try {
      const delivery = await requestReset(email)
      setTyped(email.trim())
      setState({ sentTo: email.trim(), delivery })
    } catch (cause) {
      setState(asAppError(cause, 'Asking for a link failed'))
    }
  }

  if (typeof state === 'object' && 'sentTo' in state) {
    return (
      <LinkOutcome text={t(`links.reset.sent.${state.delivery}`, { email: state.sentTo })}>
        <p className="text-ink-soft">{t(`links.reset.sentNote.${state.delivery}`)}</p>
        <button type="button" className="btn btn-outline" onClick={() => setState('idle')}>
          {t('links.reset.other')}
        </button>
      </LinkOutcome>
    )
  }
  const failure = typeof state === 'object' ? state : undefined
  return (
    <form {...form.props} onSubmit={send} className="sheet flex flex-col gap-4" data-state="ready">
      <p role="status">{note}</p>
      <EmailField t={t} form={form} use="username" initial={typed} />
      {failure && <LazyAccountError error={failure} locale={locale} t={t} />}
      <BusyButton
        label={t('links.reset.submit')}
        isWorking={state === 'working'}
        isOff={!isReady}
      />
    </form>
  )
}

interface ChooseProps {
  locale: Locale
  t: T
  company: string
  link: MailLink
  handleFailure: (error: AppError) => boolean
}

function Choose({ locale, t, company, link, handleFailure }: ChooseProps) {
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="wrap-anywhere">{t('links.reset.for', { email: link.email })}</p>
      <LazyNewPasswordForm
        {...{ locale, t, company, handleFailure }}
        email={link.email}
        submit={t('links.reset.submitPassword')}
        send={async ({ password }) => {
          await resetPassword(link, password)
          await continueAfterSignIn(t('links.reset.done'))
        }}
      />
    </section>
  )
}
