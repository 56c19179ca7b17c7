import { useStore } from '@nanostores/react'
import { useEffect, useState } from 'react'
import type { OwnAccount } from '../../contract/users.ts'
import { localizedPath } from '../../i18n/index.ts'
import {
  confirmSignUp,
  confirmSignUpWithPassword,
  resendOwnVerifyLink
} from '../../stores/accounts/mail-links.ts'
import { signOut } from '../../stores/sessions.ts'
import { $user, refreshUser } from '../../stores/signed-in-user.ts'
import { continueAfterSignIn, useBrowserReadiness } from '../forms/account-form.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { LazyFormErrorNote } from '../forms/LazyFormErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { LazyNewPasswordForm } from './LazyNewPasswordForm.tsx'
import { LinkOutcome } from './LinkOutcome.tsx'
import { type CheckedMailLink, useLinkFailure, useMailLink } from './use-mail-link.ts'

export const VerifyAccount = withTranslation(function VerifyAccount({
  company
}: {
  company: string
}) {
  const { t } = useTranslation()
  const link = useMailLink('verify')
  const user = useStore($user, { ssr: 'initial' })
  if (link === 'loading') return <div className="sheet" data-state="loading" />
  if (link !== 'none') return <Confirm {...{ company, link }} />
  if (user?.pending) return <Waiting {...{ company, user }} />
  return (
    <LinkOutcome
      text={t(user ? 'links.verify.done' : 'links.noLink')}
      next={{ path: user ? '/' : '/sign-in', text: t(user ? 'links.goOn' : 'links.toSignIn') }}
    />
  )
})

interface ConfirmProps {
  company: string
  link: CheckedMailLink
}

// a button, because programs that scan mails open links, too
function Confirm({ company, link }: ConfirmProps) {
  const { t } = useTranslation()
  const { isReady } = useBrowserReadiness()
  const { closed, handleFailure } = useLinkFailure(link)
  const action = useAction({
    what: 'Confirming the e-mail failed',
    async send() {
      await confirmSignUp(link)
      await continueAfterSignIn(t('links.verify.done'))
    },
    handle: handleFailure
  })
  const isOfAnotherBrowser = action.failure?.code === 'proof_required'

  if (closed) {
    const isUsed = closed === 'used'
    const query = `?email=${encodeURIComponent(link.email)}`
    return (
      <LinkOutcome
        text={t(`links.verify.${closed}`)}
        next={{
          path: `${isUsed ? '/sign-in' : '/sign-up'}${query}`,
          text: t(isUsed ? 'links.toSignIn' : 'links.toSignUp')
        }}
      />
    )
  }
  if (isOfAnotherBrowser) {
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
            await confirmSignUpWithPassword(link, chosen)
            await continueAfterSignIn(t('links.verify.done'))
          }}
        />
      </section>
    )
  }
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="wrap-anywhere">{t('links.verify.ready', { email: link.email })}</p>
      {action.failure && <LazyFormErrorNote error={action.failure} />}
      <BusyButton
        label={t('links.verify.submit')}
        isWorking={action.isWorking}
        isOff={!isReady}
        onClick={() => void action.start(undefined)}
      />
    </section>
  )
}

const pauseSeconds = 60
const askEveryMs = 5000

interface WaitingProps {
  company: string
  user: OwnAccount
}

function Waiting({ company, user: { email, delivery = 'mail' } }: WaitingProps) {
  const { locale, t } = useTranslation()
  const [left, setLeft] = useState(pauseSeconds)
  const action = useAction({
    what: 'Sending the mail again failed',
    async send() {
      await resendOwnVerifyLink()
      setLeft(pauseSeconds)
    }
  })

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

  const startOver = async () => {
    await signOut()
    // loads a new document, so that no data of the person stays in memory
    location.assign(localizedPath(locale, '/sign-up'))
  }

  const again = left > 0 ? t('links.verify.againIn', { count: left }) : t('links.verify.again')
  return (
    <section className="sheet flex flex-col items-start gap-4" data-state="waiting">
      <h2 className="section-title">{t(`links.verify.waitTitle.${delivery}`)}</h2>
      <p className="wrap-anywhere">{t(`links.verify.wait.${delivery}`, { email, company })}</p>
      <p className="text-ink-soft">{t(`links.verify.waitNote.${delivery}`)}</p>
      {action.failure && <LazyFormErrorNote error={action.failure} />}
      {delivery !== 'administrator' && (
        <button
          type="button"
          // the seconds must be readable
          className="btn btn-outline aria-disabled:text-ink-soft"
          aria-disabled={left > 0 || action.isWorking}
          onClick={() => {
            if (left === 0) void action.start(undefined)
          }}
        >
          {again}
        </button>
      )}
      <p role="status" className="wrap-anywhere text-sm empty:hidden">
        {action.isDone ? t(`links.verify.sent.${delivery}`, { email }) : ''}
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
