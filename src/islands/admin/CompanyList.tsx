import { useMemo } from 'react'
import type { ListedCompany } from '../../contract/companies.ts'
import { dateTag } from '../../core/text/date-tag.ts'
import { formatBytes } from '../../core/text/format.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { companyList, companySortKeys } from '../../stores/admin/companies.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { createdColumn } from '../lists/created-column.ts'
import type { TableColumn } from '../lists/DataTable.tsx'
import { FilterBar, FilterSelect } from '../lists/FilterSelect.tsx'
import { ListScreen } from '../lists/ListScreen.tsx'
import { createListAddressCodec } from '../lists/list-address.ts'
import { useListScreen } from '../lists/use-list-screen.ts'
import { useListView, ViewMenu } from '../lists/ViewMenu.tsx'

const states = ['active', 'suspended'] as const
const addresses = createListAddressCodec({
  sorts: companySortKeys,
  filters: { state: value => states.some(state => state === value) }
})

export function CompanyList({ ownCompanyId }: { ownCompanyId: string }) {
  const { locale, t } = useTranslation()
  const screen = useListScreen(companyList, addresses, 'name', 'all')
  const columns = useMemo(() => columnsOf(ownCompanyId, locale, t), [ownCompanyId, locale, t])
  const view = useListView('companies', columns)
  const { address, set } = screen
  return (
    <section className="flex flex-col gap-4" aria-labelledby="companies">
      <h2 id="companies" className="section-title">
        {t('companies.title')}
      </h2>
      <ListScreen
        screen={screen}
        label={t('companies.title')}
        search={t('companies.list.search')}
        create={{
          href: pageHref(locale, 'createCompany', { company: ownCompanyId }),
          text: t('companies.new')
        }}
        filters={
          <FilterBar activeFilterCount={screen.filterCount} onClear={() => set({ state: '' })}>
            <FilterSelect
              label={t('companies.list.state')}
              value={states.find(state => state === address?.state)}
              options={states.map(state => [state, t(`companies.list.states.${state}`)])}
              onChoose={state => set({ state })}
            />
          </FilterBar>
        }
        loading={t('companies.list.loading')}
        noneFiltered={t('companies.list.empty')}
        empty={{ title: t('companies.list.empty'), text: t('companies.create.intro') }}
        tools={<ViewMenu columns={columns} view={view} />}
        columns={view.shown}
        density={view.density}
        hrefOf={({ id }) => pageHref(locale, 'company', { company: id })}
      />
    </section>
  )
}

function columnsOf(
  ownCompanyId: string,
  locale: Locale,
  t: Translate
): TableColumn<ListedCompany>[] {
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const dates = new Intl.DateTimeFormat(dateTag(languageTag(locale)), { dateStyle: 'medium' })
  return [
    {
      id: 'name',
      label: t('companies.list.name'),
      isSortable: true,
      width: 1.6,
      cell: ({ id, name, demo }) => (
        <>
          <span className="me-2">{name}</span>
          {id === ownCompanyId && (
            <span className="badge badge-outline me-2">{t('companies.list.own')}</span>
          )}
          {demo && <span className="badge badge-outline">{t('companies.list.demo')}</span>}
        </>
      )
    },
    {
      id: 'domains',
      label: t('companies.list.domains'),
      width: 1.6,
      cell: company => <Hosts company={company} t={t} />
    },
    {
      id: 'state',
      label: t('companies.list.state'),
      cell: ({ suspended }) =>
        suspended ? (
          <>
            <span className="badge badge-outline border-error text-error">
              {t('companies.list.states.suspended')}
            </span>{' '}
            <span className="meta">
              {t('companies.list.since', { date: dates.format(new Date(suspended.since)) })}
            </span>
          </>
        ) : (
          t('companies.list.states.active')
        )
    },
    {
      id: 'people',
      label: t('companies.list.people'),
      cell: ({ usage }) => numbers.format(usage.people)
    },
    {
      id: 'documents',
      label: t('companies.list.documents'),
      isSecondary: true,
      cell: ({ usage }) => numbers.format(usage.documents)
    },
    {
      id: 'storage',
      label: t('companies.list.storage'),
      cell: ({ usage }) => formatBytes(usage.storage, locale)
    },
    {
      id: 'requests',
      label: t('companies.list.requests'),
      isSecondary: true,
      cell: ({ usage }) => numbers.format(usage.requests)
    },
    createdColumn(t('companies.list.created'), locale)
  ]
}

function Hosts({ company, t }: { company: ListedCompany; t: Translate }) {
  const [first] = company.domains
  const more = company.domain_count - 1
  if (!first) return t('companies.list.noDomain')
  return (
    <>
      <span className="wrap-anywhere">{first.host}</span>{' '}
      {!first.verified && (
        <span className="meta text-warning">{t('companies.list.unverified')} </span>
      )}
      {more > 0 && <span className="meta">{t('companies.card.moreDomains', { count: more })}</span>}
    </>
  )
}
