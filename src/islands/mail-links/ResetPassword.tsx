import { useEffect, useState } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import type { MailLinkFragment } from '../../stores/accounts/mail-link-fragment.ts'
import { EmailField } from '../forms/AccountFields.tsx'
import { continueAfterSignIn, emailRule, prefillFromQuery } from '../forms/account-form.ts'
import { Form } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { loadCode } from '../kit/load-code.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { LazyNewPasswordForm } from './LazyNewPasswordForm.tsx'
import { LinkOutcome } from './LinkOutcome.tsx'
import { useLinkFailure, useMailLink } from './use-mail-link.ts'

const loadVerbs = () => loadCode(() => import('../../stores/accounts/mail-links.ts'))

export const ResetPassword = withTranslation(function ResetPassword({
  company
}: {
  company: string
}) {
  const { t } = useTranslation()
  const link = useMailLink('reset')
  const { closed: outcome, handleFailure } = useLinkFailure(link)
  if (link === 'loading') return <div className="sheet" data-state="loading" />
  if (link === 'none' || outcome) {
    const note = t(outcome ? `links.reset.${outcome}` : 'links.reset.ask')
    return <Ask {...{ note }} email={link === 'none' ? undefined : link.email} />
  }
  return <Choose {...{ company, link, handleFailure }} />
})

interface AskProps {
  note: string
  email: string | undefined
}

function Ask({ note, email: known }: AskProps) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState(known)
  const form = useForm({
    what: 'Asking for a link failed',
    rules: { email: emailRule },
    async send({ email = '' }) {
      const { requestPasswordReset } = await loadVerbs()
      const delivery = await requestPasswordReset(email)
      setTyped(email.trim())
      return { email: email.trim(), delivery }
    }
  })
  const { ref } = form.props

  useEffect(() => prefillFromQuery(ref.current, ['email']), [ref])

  if (form.result) {
    const { email, delivery } = form.result
    return (
      <LinkOutcome text={t(`links.reset.sent.${delivery}`, { email })}>
        <p className="text-ink-soft">{t(`links.reset.sentNote.${delivery}`)}</p>
        <button type="button" className="btn btn-outline" onClick={form.reset}>
          {t('links.reset.other')}
        </button>
      </LinkOutcome>
    )
  }
  return (
    <Form form={form} submit={t('links.reset.submit')} isSheet>
      <p role="status">{note}</p>
      <EmailField use="username" initial={typed} />
    </Form>
  )
}

interface ChooseProps {
  company: string
  link: MailLinkFragment
  handleFailure: (error: AppError) => boolean
}

function Choose({ company, link, handleFailure }: ChooseProps) {
  const { t } = useTranslation()
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="wrap-anywhere">{t('links.reset.for', { email: link.email })}</p>
      <LazyNewPasswordForm
        {...{ company, handleFailure }}
        email={link.email}
        submit={t('links.reset.submitPassword')}
        keepsKeys={t('links.reset.keepKeys')}
        send={async ({ password, keepsKeys }) => {
          const { resetPassword } = await loadVerbs()
          await resetPassword(link, password, keepsKeys)
          await continueAfterSignIn(t('links.reset.done'))
        }}
      />
    </section>
  )
}
