import { useStore } from '@nanostores/react'
import type { Member, MemberUsage } from '../../contract/members.ts'
import type { UsageOfAllGroups } from '../../contract/users.ts'
import { formatBytes, formatDateTime } from '../../core/text/format.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { $shownMemberUsage, loadMemberUsage } from '../../stores/admin/members.ts'
import { LoadStatus } from '../kit/LoadStatus.tsx'
import { Meter, usedFraction } from '../kit/Meter.tsx'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'

export function UserUsage({ member }: { member: Member }) {
  const { locale, t } = useTranslation()
  const state = useStore($shownMemberUsage, { ssr: 'initial' })
  if (member.state === 'waiting') return null
  return (
    <Section id="user-usage" title={t('person.usage.title')}>
      <LoadStatus state={state} retry={() => loadMemberUsage(member.id)} />
      {state.status === 'ready' && (
        <>
          <p>
            {state.usage.groups.length === 0
              ? t('person.usage.none')
              : leftWords(state.usage.total, locale, t)}
          </p>
          {state.usage.groups.map(group => (
            <GroupUsage key={group.id} group={group} />
          ))}
        </>
      )}
    </Section>
  )
}

function GroupUsage({ group }: { group: MemberUsage['groups'][number] }) {
  const { locale, t } = useTranslation()
  const { name, max_requests, max_storage, usage, own } = group
  const count = new Intl.NumberFormat(languageTag(locale))
  const used = (amount: string, limit: string | undefined) =>
    limit === undefined
      ? t('person.usage.used', { used: amount })
      : t('person.usage.of', { used: amount, limit })
  return (
    <section className="flex flex-col gap-3" aria-label={t('person.usage.group', { group: name })}>
      <h3 className="wrap-anywhere font-semibold">{name}</h3>
      <div className="grid gap-3 sm:grid-cols-2">
        <Meter
          label={t('person.usage.requests')}
          words={used(
            count.format(usage.requests_used),
            max_requests === null ? undefined : count.format(max_requests)
          )}
          share={usedFraction(usage.requests_used, max_requests)}
        />
        <Meter
          label={t('person.usage.storage')}
          words={used(
            formatBytes(usage.storage_used, locale),
            max_storage === null ? undefined : formatBytes(max_storage, locale)
          )}
          share={usedFraction(usage.storage_used, max_storage)}
        />
      </div>
      <p className="meta">
        {t('person.usage.own', {
          requests: t('person.usage.ownCount', { count: own.requests_used }),
          storage: formatBytes(own.storage_used, locale)
        })}
        {usage.resets_at && (
          <>
            {' '}
            {t('person.usage.resets', { time: formatDateTime(new Date(usage.resets_at), locale) })}
          </>
        )}
      </p>
    </section>
  )
}

function leftWords(
  { requests_remaining, storage_remaining }: UsageOfAllGroups,
  locale: Locale,
  t: Translate
): string {
  const requests =
    requests_remaining === null
      ? undefined
      : t('person.usage.ownCount', { count: requests_remaining })
  const storage = storage_remaining === null ? undefined : formatBytes(storage_remaining, locale)
  if (requests !== undefined && storage !== undefined)
    return t('person.usage.left', { requests, storage })
  if (requests !== undefined) return t('person.usage.leftRequests', { requests })
  if (storage !== undefined) return t('person.usage.leftStorage', { storage })
  return t('person.usage.leftAll')
}
