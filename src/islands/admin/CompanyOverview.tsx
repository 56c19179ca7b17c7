import { useStore } from '@nanostores/react'
import { useCallback, useEffect } from 'react'
import type { Group } from '../../contract/groups.ts'
import { formatDateTime } from '../../core/text/format.ts'
import {
  $companyOverview,
  type CompanyOverviewState,
  loadCompanyOverview
} from '../../stores/admin/companies.ts'
import { $attention, loadAttention } from '../../stores/admin/overview.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import { AdminPageMissing } from '../kit/AdminPageMissing.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { usedFraction } from '../kit/Meter.tsx'
import { pageHref } from '../kit/page-href.ts'
import { Section } from '../kit/Section.tsx'
import { useWaitPhase } from '../kit/time.ts'
import { useSetPageName } from '../kit/use-set-page-name.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { UsageBar } from '../lists/UsageBar.tsx'
import { UsageByDay } from '../usage/UsageByDay.tsx'
import { AttentionCard, AttentionItems } from './AttentionCard.tsx'
import { CompanyNameEditor } from './CompanyNameEditor.tsx'
import { CompanyNotices } from './CompanyNotices.tsx'
import { CompanySuspension } from './CompanySuspension.tsx'

const ApiKeys = lazyComponent(async () => (await import('../api-keys/ApiKeys.tsx')).ApiKeys)

const mostNamed = 5

export const CompanyOverview = withTranslation(function CompanyOverview() {
  const { t } = useTranslation()
  const session = useStore($session, { ssr: 'initial' })
  const route = useStore($route, { ssr: 'initial' })
  const overview = useStore($companyOverview, { ssr: 'initial' })
  const params: Record<string, string> = route?.params ?? {}
  const { company: id } = params
  const waiting = useWaitPhase(overview.status === 'loading')
  useSetPageName(overview.status === 'ready' ? overview.company.name : undefined)

  useEffect(() => {
    if (session.status === 'in' && id !== undefined) void loadCompanyOverview(id)
  }, [session.status, id])

  if (overview.status === 'missing') return <AdminPageMissing />
  const isKnown = id !== undefined && session.status === 'in'
  return (
    <div
      data-state={overview.status === 'failed' ? 'error' : overview.status}
      className="grid gap-4"
    >
      {overview.status === 'ready' && <CompanyNotices company={overview.company} />}
      {isKnown && <CompanyAttention company={id} />}
      {overview.status === 'failed' && (
        <ErrorNote error={overview.error} retry={() => loadCompanyOverview(id ?? '')} />
      )}
      {overview.status === 'loading' && (
        <div className="sheet min-h-40">
          <p role="status" className="text-ink-soft">
            {waiting === 'text' && t('admin.overview.loading')}
            {waiting === 'slow' && t('admin.slow')}
          </p>
        </div>
      )}
      {overview.status === 'ready' && (
        <div className="grid items-start gap-4 md:grid-cols-2">
          <CompanyCard overview={overview} />
          <NearestLimits overview={overview} />
        </div>
      )}
      {isKnown && <UsageByDay company={id} />}
      {isKnown && <ApiKeys company={id} />}
      {overview.status === 'ready' && <CompanySuspension company={overview.company} />}
    </div>
  )
})

type Ready = Extract<CompanyOverviewState, { status: 'ready' }>

const mostDomains = 5

function CompanyCard({ overview }: { overview: Ready }) {
  const { locale, t } = useTranslation()
  const { company, groups, hasMoreGroups } = overview
  const { domains, people } = company
  const moreDomains = company.domain_count - mostDomains
  const preset = groups.find(group => group.is_default)
  const words = hasMoreGroups ? 'admin.overview.groupsMany' : 'admin.overview.groupCount'
  return (
    <section className="sheet flex flex-col items-start gap-4" aria-labelledby="overview-company">
      <h2 id="overview-company" className="section-title">
        {t('overview.card.title')}
      </h2>
      <CompanyNameEditor key={company.id} company={company} />
      <dl className="grid w-full gap-x-4 gap-y-1 sm:grid-cols-[auto_1fr] sm:gap-y-3">
        <dt className="text-ink-soft">{t('companies.card.created')}</dt>
        <dd>{formatDateTime(new Date(company.created), locale)}</dd>
        <dt className="text-ink-soft">{t('overview.card.domains')}</dt>
        <dd>
          {domains.length === 0 && t('overview.card.noDomains')}
          <ul>
            {domains.slice(0, mostDomains).map(({ id, host, verified }) => (
              <li key={id} className="wrap-anywhere">
                <a
                  className="link"
                  href={pageHref(locale, 'domain', { company: company.id, domain: id })}
                >
                  {host}
                </a>{' '}
                <span className={verified ? 'meta' : 'meta text-warning'}>
                  {t(verified ? 'overview.card.verified' : 'overview.card.unverified')}
                </span>
              </li>
            ))}
          </ul>
          {moreDomains > 0 && (
            <a className="link" href={pageHref(locale, 'domains', { company: company.id })}>
              {t('companies.card.moreDomains', { count: moreDomains })}
            </a>
          )}
        </dd>
        <dt className="text-ink-soft">{t('overview.card.people')}</dt>
        <dd>
          <p>{t('overview.card.people_active', { count: people.active })}</p>
          {(['invited', 'waiting', 'disabled'] as const).map(
            state =>
              people[state] > 0 && (
                <p key={state} className="meta">
                  {t(`overview.card.people_${state}`, { count: people[state] })}
                </p>
              )
          )}
        </dd>
        <dt className="text-ink-soft">{t('admin.overview.groups')}</dt>
        <dd>
          <p>{t(words, { count: groups.length })}</p>
          {preset && (
            <p className="meta wrap-anywhere">
              {t('admin.overview.newPeople', { group: preset.name })}{' '}
              <a
                className="link"
                href={pageHref(locale, 'group', { company: company.id, group: preset.id })}
              >
                {t('companies.card.openGroup')}
              </a>
            </p>
          )}
        </dd>
      </dl>
      <a className="btn btn-outline" href={pageHref(locale, 'groups', { company: company.id })}>
        {t('admin.overview.all')}
      </a>
    </section>
  )
}

function NearestLimits({ overview }: { overview: Ready }) {
  const { locale, t } = useTranslation()
  const { company, groups, hasMoreGroups } = overview
  const nearest = groups
    .flatMap(limitsOf)
    .sort((a, b) => b.share - a.share)
    .slice(0, mostNamed)
  return (
    <Section
      id="overview-limits"
      title={t('admin.overview.nearest')}
      note={hasMoreGroups && t('admin.overview.nearestOf', { count: groups.length })}
    >
      {nearest.length === 0 && <p className="text-ink-soft">{t('admin.overview.noLimits')}</p>}
      <ul className="flex flex-col divide-y divide-base-300">
        {nearest.map(({ group, what, used, limit }) => (
          <li
            key={`${group.id} ${what}`}
            className="flex flex-col justify-between gap-x-6 gap-y-2 py-3 sm:flex-row"
          >
            <div className="min-w-0">
              <a
                className="link wrap-anywhere"
                href={pageHref(locale, 'group', { company: company.id, group: group.id })}
              >
                {group.name}
              </a>
              <p className="meta">{t(`admin.groups.${what}`)}</p>
            </div>
            <UsageBar usageKind={what} used={used} limit={limit} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function limitsOf(group: Group) {
  const { usage, max_requests, max_storage } = group
  const limits = [
    { group, what: 'requests' as const, used: usage.requests_used, limit: max_requests },
    { group, what: 'storage' as const, used: usage.storage_used, limit: max_storage }
  ]
  return limits.flatMap(({ limit, used, ...rest }) => {
    const share = usedFraction(used, limit)
    return limit === null || share === undefined ? [] : [{ ...rest, used, limit, share }]
  })
}

function CompanyAttention({ company }: { company: string }) {
  const { t } = useTranslation()
  const state = useStore($attention, { ssr: 'initial' })
  const check = useCallback(() => void loadAttention(company), [company])
  const found = state.status === 'ready' ? state.attention : undefined
  return (
    <AttentionCard
      state={state}
      loading={t('overview.attention.loading')}
      check={check}
      isInOrder={found?.items.length === 0 && found.unchecked.length === 0}
    >
      {found && (
        <AttentionItems found={found} company={company} hasMailServer={found.has_mail_server} />
      )}
    </AttentionCard>
  )
}
