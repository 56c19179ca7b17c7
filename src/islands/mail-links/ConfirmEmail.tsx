import { useStore } from '@nanostores/react'
import type { MailLinkFragment } from '../../stores/accounts/mail-link-fragment.ts'
import { confirmEmailChange } from '../../stores/accounts/mail-links.ts'
import { $session } from '../../stores/sessions.ts'
import { useBrowserReadiness } from '../forms/account-form.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { LazyFormErrorNote } from '../forms/LazyFormErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { LinkOutcome } from './LinkOutcome.tsx'
import { useLinkFailure, useMailLink } from './use-mail-link.ts'

export const ConfirmEmail = withTranslation(function ConfirmEmail() {
  const { t } = useTranslation()
  const link = useMailLink('email')
  const { isReady } = useBrowserReadiness()
  const session = useStore($session, { ssr: 'initial' })
  const { closed, handleFailure } = useLinkFailure(link)
  const action = useAction({
    what: 'Confirming the e-mail failed',
    send: (opened: MailLinkFragment) => confirmEmailChange(opened),
    handle: handleFailure
  })

  if (link === 'loading') return <div className="sheet" data-state="loading" />
  const next = { path: '/me', text: t('links.goOn') }
  if (link === 'none') return <LinkOutcome text={t('links.noLink')} next={next} />
  const outcome = action.isDone ? 'done' : closed
  if (outcome) {
    const text = t(`links.confirmEmail.${outcome}`, { email: link.email })
    return <LinkOutcome text={text} next={next} />
  }
  if (isReady && session.status === 'out') {
    return (
      <LinkOutcome
        text={t('links.confirmEmail.signIn')}
        next={{ path: '/sign-in', text: t('links.toSignIn') }}
      />
    )
  }
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="wrap-anywhere">{t('links.confirmEmail.ready', { email: link.email })}</p>
      {action.failure && <LazyFormErrorNote error={action.failure} />}
      <BusyButton
        label={t('links.confirmEmail.submit')}
        isWorking={action.isWorking}
        isOff={!isReady}
        onClick={() => void action.start(link)}
      />
    </section>
  )
})
