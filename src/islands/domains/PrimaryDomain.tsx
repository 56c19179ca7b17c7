import type { DomainDetails } from '../../contract/domains.ts'
import { makeDomainPrimary } from '../../stores/admin/domains.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { useAction } from '../forms/use-action.ts'
import { announce } from '../kit/announce.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWords } from '../kit/use-words.ts'

interface DomainProps {
  domain: DomainDetails
}

/**
 * Makes a domain the company's primary domain, and explains what that changes. Shows nothing if the
 * domain already is the primary domain or cannot become it.
 */
export function PrimaryDomain({ domain: { id, host, primary, state } }: DomainProps) {
  const { t } = useWords()
  const action = useAction({
    what: 'Making the domain the main one failed',
    async send() {
      await makeDomainPrimary(id)
      announce(t('domains.primary.done', { host }))
      // the button that was pressed is gone
      document.querySelector<HTMLElement>('main h1')?.focus()
    }
  })
  const isServed = state === 'verified' || state === 'failing'
  if (primary || !isServed || host.startsWith('*')) return null
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby="primary-domain">
      <div>
        <h2 id="primary-domain" className="section-title">
          {t('domains.primary.title')}
        </h2>
        <p id="primary-note" className="meta wrap-anywhere">
          {t('domains.primary.note', { host })}
        </p>
      </div>
      {action.failure && <ErrorNote error={action.failure} />}
      <BusyButton
        label={t('domains.primary.make')}
        look="btn-outline self-start"
        isWorking={action.isWorking}
        describedBy="primary-note"
        onClick={() => void action.start(undefined)}
      />
    </section>
  )
}
