import { useStore } from '@nanostores/react'
import { useEffect } from 'react'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { $recentChanges, loadRecentChanges } from '../../stores/admin/recent-changes.ts'
import { LoadStatus } from '../kit/LoadStatus.tsx'
import { pageHref } from '../kit/page-href.ts'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { AuditEntry } from './AuditEntry.tsx'
import { auditTranslator } from './audit-translator.ts'

export interface RecentChangesProps {
  target: string
  /** Lists also the changes that this person made. */
  isPerson?: boolean
  /** The values on the page that, when they change, load the list again. */
  shown: readonly unknown[]
}

export function RecentChangeList({ target, isPerson = false, shown }: RecentChangesProps) {
  const { locale } = useTranslation()
  const say = auditTranslator(locale)
  const state = useStore($recentChanges, { ssr: 'initial' })
  const company = companyIdOfPage()

  useEffect(() => {
    void loadRecentChanges(target, isPerson)
  }, [target, isPerson, ...shown])

  return (
    <Section id="recent-changes" title={say('recent.title')} state={state.status}>
      <LoadStatus state={state} retry={() => loadRecentChanges(target, isPerson)} />
      {state.status === 'ready' && state.entries.length === 0 && (
        <p className="text-ink-soft">{say('recent.none')}</p>
      )}
      {state.status === 'ready' && state.entries.length > 0 && (
        <>
          <ol className="flex flex-col gap-4">
            {state.entries.map(entry => (
              <li key={entry.id} className="border-line border-s-2 ps-4">
                <AuditEntry entry={entry} company={company} />
              </li>
            ))}
          </ol>
          <a
            className="link self-start"
            href={`${pageHref(locale, 'audit', { company })}?${isPerson ? 'person' : 'target'}=${target}`}
          >
            {say('recent.all')}
          </a>
        </>
      )}
    </Section>
  )
}
