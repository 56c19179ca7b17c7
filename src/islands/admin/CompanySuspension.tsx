import { useStore } from '@nanostores/react'
import type { CompanyDetails } from '../../contract/companies.ts'
import { SuspendedVerification } from '../../contract/domains.ts'
import { DisabledReason } from '../../contract/kit/disabled.ts'
import { required } from '../../core/input/validators.ts'
import { suspendCompany } from '../../stores/admin/companies.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { InPlaceEditor, InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { useForm } from '../forms/use-form.ts'
import { showMessage } from '../kit/show-message.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface CompanyProps {
  company: CompanyDetails
}

export function CompanySuspension({ company }: CompanyProps) {
  const { t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const isAllowed = user?.permissions.includes('operator') && user.company.id !== company.id
  if (!isAllowed || company.suspended) return null
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby="company-suspend">
      <h2 id="company-suspend" className="section-title">
        {t('companies.suspend.title')}
      </h2>
      <p className="max-w-prose text-ink-soft">{t('companies.suspend.note')}</p>
      <InPlaceEditor label={t('companies.suspend.open')}>
        {close => <SuspendForm company={company} close={close} />}
      </InPlaceEditor>
    </section>
  )
}

const groups = ['strangers', 'people', 'admins'] as const

function SuspendForm({ company: { id, name }, close }: CompanyProps & { close: () => void }) {
  const { t } = useTranslation()
  const form = useForm({
    what: 'Suspending the company failed',
    rules: { reason: required },
    async send({ reason, verification }) {
      await suspendCompany({
        id,
        reason: DisabledReason.parse(reason),
        verification: SuspendedVerification.parse(verification)
      })
      showMessage(t('companies.suspend.done', { company: name }))
      // this form is gone
      document.getElementById('company-suspended')?.focus()
    }
  })
  return (
    <InPlaceForm
      form={form}
      submit={t('companies.suspend.confirm')}
      look="btn-error"
      className="max-w-md gap-4"
      cancel={t('companies.suspend.cancel')}
      close={close}
    >
      <SelectField
        label={t('companies.suspend.reason')}
        name="reason"
        initial=""
        options={[
          { value: '', label: t('companies.suspend.choose') },
          ...DisabledReason.options.map(value => ({
            value,
            label: t(`companies.suspend.reasons.${value}`)
          }))
        ]}
      />
      <SelectField
        label={t('companies.suspend.verification')}
        name="verification"
        initial="open"
        options={SuspendedVerification.options.map(value => ({
          value,
          label: t(`companies.suspend.verifications.${value}`)
        }))}
      />
      <section className="flex flex-col gap-2" aria-labelledby="suspension-effects">
        <h3 id="suspension-effects" className="font-semibold">
          {t('companies.suspend.sees.title')}
        </h3>
        <dl className="grid gap-2 text-sm">
          {groups.map(group => (
            <div key={group}>
              <dt className="wrap-anywhere text-ink-soft">
                {t(`companies.suspend.sees.${group}`, { company: name })}
              </dt>
              <dd>{t(`companies.suspend.sees.${group}Text`)}</dd>
            </div>
          ))}
        </dl>
      </section>
    </InPlaceForm>
  )
}
