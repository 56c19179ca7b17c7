import type { DomainDetails } from '../../contract/domains.ts'
import { makeDomainPrimary } from '../../stores/admin/domains.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Section } from '../kit/Section.tsx'
import { showMessage } from '../kit/show-message.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'

export function ChangePrimaryDomain({
  domain: { id, host, primary, state }
}: {
  domain: DomainDetails
}) {
  const { t } = useTranslation()
  const action = useAction({
    what: 'Making the domain the main one failed',
    async send() {
      await makeDomainPrimary(id)
      showMessage(t('domains.primary.done', { host }))
      // the button that was pressed is gone
      document.querySelector<HTMLElement>('main h1')?.focus()
    }
  })
  const isServed = state === 'verified' || state === 'failing'
  if (primary || !isServed || host.startsWith('*')) return null
  return (
    <Section
      id="primary-domain"
      title={t('domains.primary.title')}
      note={<span className="wrap-anywhere">{t('domains.primary.note', { host })}</span>}
    >
      {action.failure && <ErrorNote error={action.failure} />}
      <BusyButton
        label={t('domains.primary.make')}
        look="btn-outline self-start"
        isWorking={action.isWorking}
        describedBy="primary-domain-note"
        onClick={() => void action.start(undefined)}
      />
    </Section>
  )
}
