import { useStore } from '@nanostores/react'
import { useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { UserInfo } from '../../contract/users.ts'
import { localizedPath } from '../../i18n/index.ts'
import {
  confirmSignUp,
  confirmWithPassword,
  sendVerification
} from '../../stores/accounts/mail-links.ts'
import { signOut } from '../../stores/sessions.ts'
import { $user, refreshUser } from '../../stores/users.ts'
import { continueAfterSignIn, useReadiness } from '../forms/account-form.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { useWords, withWords } from '../kit/use-words.ts'
import { LazyNewPasswordForm } from './LazyNewPasswordForm.tsx'
import { LinkOutcome } from './LinkOutcome.tsx'
import {
  closedLinkState,
  linkStateFromError,
  type OpenedLink,
  useMailLink
} from './use-mail-link.ts'

interface VerifyAccountProps {
  company: string
}

/**
 * Confirms a sign-up with the link in the mail. Opened without a link, waits until the person opens
 * it.
 */
export const VerifyAccount = withWords(function VerifyAccount({ company }: VerifyAccountProps) {
  const { locale, t } = useWords()
  const link = useMailLink('verify')
  const user = useStore($user, { ssr: 'initial' })
  if (link === 'loading') return <div className="sheet" data-state="loading" />
  if (link !== 'none') return <Confirm {...{ company, link }} />
  if (user?.pending) return <Waiting {...{ company, user }} />
  return (
    <LinkOutcome text={t(user ? 'links.verify.done' : 'links.noLink')}>
      <a className="btn btn-primary" href={localizedPath(locale, user ? '/' : '/sign-in')}>
        {t(user ? 'links.goOn' : 'links.toSignIn')}
      </a>
    </LinkOutcome>
  )
})

interface ConfirmProps {
  company: string
  link: OpenedLink
}

/** Asks for a click before it uses the link, because programs that scan mails open links, too. */
function Confirm({ company, link }: ConfirmProps) {
  const { locale, t } = useWords()
  const { isReady } = useReadiness()
  const [state, setState] = useState<
    'ready' | 'working' | 'elsewhere' | 'used' | 'over' | AppError
  >(closedLinkState(link) ?? 'ready')
  const handleFailure = (error: AppError) => {
    const outcome = linkStateFromError(error)
    if (outcome) setState(outcome)
    return outcome !== undefined
  }
  const confirm = async () => {
    if (state === 'working') return
    setState('working')
    try {
      await confirmSignUp(link)
      await continueAfterSignIn(t('links.verify.done'))
    } catch (cause) {
      const error = asAppError(cause, 'Confirming the e-mail failed')
      if (error.code === 'proof_required') setState('elsewhere')
      else if (!handleFailure(error)) setState(error)
    }
  }

  if (state === 'used' || state === 'over') {
    const page = state === 'used' ? '/sign-in' : '/sign-up'
    const query = `?email=${encodeURIComponent(link.email)}`
    return (
      <LinkOutcome text={t(`links.verify.${state}`)}>
        <a className="btn btn-primary" href={localizedPath(locale, page) + query}>
          {t(state === 'used' ? 'links.toSignIn' : 'links.toSignUp')}
        </a>
      </LinkOutcome>
    )
  }
  if (state === 'elsewhere') {
    return (
      <section className="sheet flex flex-col gap-4" data-state="ready">
        <p className="wrap-anywhere font-medium">{link.email}</p>
        <p role="status">{t('links.verify.elsewhere')}</p>
        <LazyNewPasswordForm
          {...{ company, handleFailure }}
          email={link.email}
          submit={t('links.verify.submitPassword')}
          asksForName
          send={async chosen => {
            await confirmWithPassword(link, chosen)
            await continueAfterSignIn(t('links.verify.done'))
          }}
        />
      </section>
    )
  }
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="wrap-anywhere">{t('links.verify.ready', { email: link.email })}</p>
      {typeof state === 'object' && <LazyAccountError error={state} />}
      <BusyButton
        label={t('links.verify.submit')}
        isWorking={state === 'working'}
        isOff={!isReady}
        onClick={() => void confirm()}
      />
    </section>
  )
}

const pauseSeconds = 60
const askEveryMs = 5000

interface WaitingProps {
  company: string
  user: UserInfo
}

/**
 * Waits until the person opens the link, in this browser or another, and then continues
 * automatically.
 */
function Waiting({ company, user: { email, delivery = 'mail' } }: WaitingProps) {
  const { locale, t } = useWords()
  const [left, setLeft] = useState(pauseSeconds)
  const [state, setState] = useState<'idle' | 'working' | 'sent' | AppError>('idle')

  useEffect(() => {
    const ask = setInterval(() => void refreshUser(), askEveryMs)
    const count = setInterval(() => setLeft(seconds => Math.max(0, seconds - 1)), 1000)
    const stop = $user.listen(user => {
      if (user && !user.pending) void continueAfterSignIn()
    })
    return () => {
      clearInterval(ask)
      clearInterval(count)
      stop()
    }
  }, [])

  const send = async () => {
    if (state === 'working' || left > 0) return
    setState('working')
    try {
      await sendVerification()
      setLeft(pauseSeconds)
      setState('sent')
    } catch (cause) {
      setState(asAppError(cause, 'Sending the mail again failed'))
    }
  }
  const startOver = async () => {
    await signOut()
    // in full, so that nothing of the person stays in memory
    location.assign(localizedPath(locale, '/sign-up'))
  }

  const again = left > 0 ? t('links.verify.againIn', { count: left }) : t('links.verify.again')
  return (
    <section className="sheet flex flex-col items-start gap-4" data-state="waiting">
      <h2 className="section-title">{t(`links.verify.waitTitle.${delivery}`)}</h2>
      <p className="wrap-anywhere">{t(`links.verify.wait.${delivery}`, { email, company })}</p>
      <p className="text-ink-soft">{t(`links.verify.waitNote.${delivery}`)}</p>
      {typeof state === 'object' && <LazyAccountError error={state} />}
      {delivery !== 'administrator' && (
        <button
          type="button"
          // the seconds must be readable
          className="btn btn-outline aria-disabled:text-ink-soft"
          aria-disabled={left > 0 || state === 'working'}
          onClick={() => void send()}
        >
          {again}
        </button>
      )}
      <p role="status" className="wrap-anywhere text-sm empty:hidden">
        {state === 'sent' ? t(`links.verify.sent.${delivery}`, { email }) : ''}
      </p>
      <button
        type="button"
        className="link link-secondary text-start"
        onClick={() => void startOver()}
      >
        {t('links.verify.wrong')}
      </button>
    </section>
  )
}
