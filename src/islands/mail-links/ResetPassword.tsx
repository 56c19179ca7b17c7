import { type FormEvent, useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { Delivery } from '../../contract/users.ts'
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
import { useWords, withWords } from '../kit/use-words.ts'
import { LazyNewPasswordForm } from './LazyNewPasswordForm.tsx'
import { LinkOutcome } from './LinkOutcome.tsx'
import { useClosedLink, useMailLink } from './use-mail-link.ts'

interface ResetPasswordProps {
  company: string
}

/**
 * Asks for the e-mail to which a reset link is sent. Opened through that link, asks for the new
 * password.
 */
export const ResetPassword = withWords(function ResetPassword({ company }: ResetPasswordProps) {
  const { t } = useWords()
  const link = useMailLink('reset')
  const { closed: outcome, handleFailure } = useClosedLink(link)
  if (link === 'loading') return <div className="sheet" data-state="loading" />
  if (link === 'none' || outcome) {
    const note = t(outcome ? `links.reset.${outcome}` : 'links.reset.ask')
    return <Ask {...{ note }} email={link === 'none' ? undefined : link.email} />
  }
  return <Choose {...{ company, link, handleFailure }} />
})

interface AskProps {
  note: string
  /** E-mail from an expired or used link, to fill in the field. */
  email: string | undefined
}

function Ask({ note, email: known }: AskProps) {
  const { t } = useWords()
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
      <EmailField form={form} use="username" initial={typed} />
      {failure && <LazyAccountError error={failure} />}
      <BusyButton
        label={t('links.reset.submit')}
        isWorking={state === 'working'}
        isOff={!isReady}
      />
    </form>
  )
}

interface ChooseProps {
  company: string
  link: MailLink
  handleFailure: (error: AppError) => boolean
}

function Choose({ company, link, handleFailure }: ChooseProps) {
  const { t } = useWords()
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="wrap-anywhere">{t('links.reset.for', { email: link.email })}</p>
      <LazyNewPasswordForm
        {...{ company, handleFailure }}
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
