import { useStore } from '@nanostores/react'
import { useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import { localizedPath } from '../../i18n/index.ts'
import { confirmEmail, type MailLink } from '../../stores/accounts/mail-links.ts'
import { $session } from '../../stores/sessions.ts'
import { useReadiness } from '../forms/account-form.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { useWords, withWords } from '../kit/use-words.ts'
import { LinkOutcome } from './LinkOutcome.tsx'
import { closedLinkState, linkStateFromError, useMailLink } from './use-mail-link.ts'

/**
 * The page of a mailed link that confirms a new e-mail. The person must be signed in with this
 * browser.
 */
export const ConfirmEmail = withWords(function ConfirmEmail() {
  const { locale, t } = useWords()
  const link = useMailLink('email')
  const { isReady } = useReadiness()
  const session = useStore($session, { ssr: 'initial' })
  const [state, setState] = useState<'ready' | 'working' | 'done' | 'used' | 'over' | AppError>(
    'ready'
  )

  const confirm = async (opened: MailLink) => {
    if (state === 'working') return
    setState('working')
    try {
      await confirmEmail(opened)
      setState('done')
    } catch (cause) {
      const error = asAppError(cause, 'Confirming the e-mail failed')
      setState(linkStateFromError(error) ?? error)
    }
  }

  if (link === 'loading') return <div className="sheet" data-state="loading" />
  if (link === 'none') {
    return (
      <LinkOutcome text={t('links.noLink')}>
        <a className="btn btn-primary" href={localizedPath(locale, '/me')}>
          {t('links.goOn')}
        </a>
      </LinkOutcome>
    )
  }
  const outcome =
    state === 'done' || state === 'used' || state === 'over' ? state : closedLinkState(link)
  if (outcome) {
    return (
      <LinkOutcome text={t(`links.confirmEmail.${outcome}`, { email: link.email })}>
        <a className="btn btn-primary" href={localizedPath(locale, '/me')}>
          {t('links.goOn')}
        </a>
      </LinkOutcome>
    )
  }
  if (isReady && session.status === 'out') {
    return (
      <LinkOutcome text={t('links.confirmEmail.signIn')}>
        <a className="btn btn-primary" href={localizedPath(locale, '/sign-in')}>
          {t('links.toSignIn')}
        </a>
      </LinkOutcome>
    )
  }
  const failure = typeof state === 'object' ? state : undefined
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="wrap-anywhere">{t('links.confirmEmail.ready', { email: link.email })}</p>
      {failure && <LazyAccountError error={failure} />}
      <BusyButton
        label={t('links.confirmEmail.submit')}
        isWorking={state === 'working'}
        isOff={!isReady}
        onClick={() => void confirm(link)}
      />
    </section>
  )
})
