import { useStore } from '@nanostores/react'
import type { CompanyDetails } from '../../contract/companies.ts'
import { parseDisabledReason } from '../../contract/kit/disabled.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { $firstAdminInvitation, resumeCompany } from '../../stores/admin/companies.ts'
import { $attention } from '../../stores/admin/overview.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { ButtonWithNote } from '../forms/ButtonWithNote.tsx'
import { CopyButton } from '../kit/CopyButton.tsx'
import { showMessage } from '../kit/show-message.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface CompanyProps {
  company: CompanyDetails
}

export function CompanyNotices({ company }: CompanyProps) {
  const invitation = useStore($firstAdminInvitation, { ssr: 'initial' })
  return (
    <>
      <SealingPaused company={company} />
      {company.suspended && <Suspended company={company} suspended={company.suspended} />}
      {invitation?.company === company.id && <InvitationLink {...invitation} />}
    </>
  )
}

function SealingPaused({ company: { id, name } }: CompanyProps) {
  const { t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const attention = useStore($attention, { ssr: 'initial' })
  const isFrozen =
    attention.status === 'ready' &&
    attention.company === id &&
    attention.attention.items.some(({ kind }) => kind === 'log_frozen')
  if (!isFrozen) return null
  const isOperator = user?.permissions.includes('operator')
  return (
    <section
      className="alert alert-warning alert-outline flex flex-col items-start gap-2 text-base-content"
      aria-labelledby="company-sealing"
    >
      <h2 id="company-sealing" className="section-title">
        {t('companies.sealingPaused.title')}
      </h2>
      <p className="wrap-anywhere">{t('companies.sealingPaused.why', { company: name })}</p>
      <p>{t('companies.sealingPaused.kept')}</p>
      <p>
        {isOperator
          ? t('companies.sealingPaused.operate', { command: 'npm run vidimus -- log list' })
          : t('companies.sealingPaused.ask')}
      </p>
    </section>
  )
}

interface SuspendedProps extends CompanyProps {
  suspended: NonNullable<CompanyDetails['suspended']>
}

function Suspended({ company: { id, name }, suspended }: SuspendedProps) {
  const { locale, t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const reason = parseDisabledReason(suspended.reason)
  const action = useAction({
    what: 'Resuming the company failed',
    async send() {
      await resumeCompany(id)
      showMessage(t('companies.suspended.resumed', { company: name }))
      // the button that was pressed is gone
      document.querySelector<HTMLElement>('main h1')?.focus()
    }
  })
  return (
    <section
      className="alert alert-error alert-outline flex flex-col items-start gap-2 text-base-content"
      aria-labelledby="company-suspended"
    >
      <h2 id="company-suspended" tabIndex={-1} className="section-title wrap-anywhere">
        {t('companies.suspended.title', { company: name })}
      </h2>
      <p>
        {t('companies.suspended.since', {
          date: formatDateTime(new Date(suspended.since), locale)
        })}{' '}
        {t(`companies.suspend.reasons.${reason}`)}.
      </p>
      <p>{t(`companies.suspended.text.${suspended.verification}`)}</p>
      {user?.permissions.includes('operator') && (
        <ButtonWithNote
          label={t('companies.suspended.resume')}
          note={t('companies.suspended.resumeNote')}
          look="btn-primary"
          action={action}
        />
      )}
    </section>
  )
}

function InvitationLink({ email, link, until }: { email: string; link: string; until: number }) {
  const { locale, t } = useTranslation()
  return (
    <section
      className="alert alert-info alert-outline flex flex-col items-start gap-2 text-base-content"
      aria-labelledby="company-invitation"
    >
      <h2 id="company-invitation" className="section-title">
        {t('companies.invitation.title')}
      </h2>
      <p className="break-all font-mono text-sm">{link}</p>
      <CopyButton text={link} label={t('companies.invitation.copy')} />
      <p className="wrap-anywhere">{t('companies.invitation.use', { email })}</p>
      <p>{t('companies.invitation.until', { date: formatDateTime(new Date(until), locale) })}</p>
    </section>
  )
}
