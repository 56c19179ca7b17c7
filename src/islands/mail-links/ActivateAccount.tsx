import { activateAccount } from '../../stores/accounts/mail-links.ts'
import { continueAfterSignIn } from '../forms/account-form.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { LazyNewPasswordForm } from './LazyNewPasswordForm.tsx'
import { LinkOutcome } from './LinkOutcome.tsx'
import { useLinkFailure, useMailLink } from './use-mail-link.ts'

export const ActivateAccount = withTranslation(function ActivateAccount({
  company
}: {
  company: string
}) {
  const { locale, t } = useTranslation()
  const link = useMailLink('activate')
  const { closed: outcome, handleFailure } = useLinkFailure(link)

  if (link === 'loading') return <div className="sheet" data-state="loading" />
  if (link === 'none' || outcome) {
    const next = { path: '/sign-in', text: t('links.toSignIn') }
    return (
      <LinkOutcome
        text={t(outcome ? `links.activate.${outcome}` : 'links.noLink')}
        next={outcome === 'over' ? undefined : next}
      />
    )
  }
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="wrap-anywhere">{t('links.activate.invited', { company, email: link.email })}</p>
      <LazyNewPasswordForm
        {...{ company, handleFailure }}
        email={link.email}
        submit={t('links.activate.submit')}
        asksForName
        username={link.username}
        send={async chosen => {
          await activateAccount(link, { ...chosen, locale })
          await continueAfterSignIn(t('entrance.signUp.done'))
        }}
      />
    </section>
  )
})
