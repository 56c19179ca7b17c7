import { useMemo } from 'react'
import { type Domain, DomainState } from '../../contract/domains.ts'
import { formatDateTime } from '../../core/text/format.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { domainList, domainSortKeys } from '../../stores/admin/domains.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import type { TableColumn } from '../lists/DataTable.tsx'
import { FilterBar, FilterSelect } from '../lists/FilterSelect.tsx'
import { ListScreen } from '../lists/ListScreen.tsx'
import { createListAddressCodec } from '../lists/list-address.ts'
import { useListScreen } from '../lists/use-list-screen.ts'
import { DomainStateMark } from './DomainStateMark.tsx'

const states = DomainState.options

const addresses = createListAddressCodec({
  sorts: domainSortKeys,
  filters: { state: value => states.some(state => state === value) }
})

export const DomainList = withTranslation(function DomainList() {
  const { locale, t } = useTranslation()
  const screen = useListScreen(domainList, addresses, 'host')
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  const { company, address, set } = screen
  return (
    <ListScreen
      screen={screen}
      label={t('domains.list.label')}
      search={t('domains.list.search')}
      create={{ href: pageHref(locale, 'createDomain', { company }), text: t('domains.list.new') }}
      filters={
        <FilterBar activeFilterCount={screen.filterCount} onClear={() => set({ state: '' })}>
          <FilterSelect
            label={t('domains.list.state')}
            value={address?.state}
            options={states.map(each => [each, t(`domains.states.${each}`)])}
            onChoose={state => set({ state })}
          />
        </FilterBar>
      }
      loading={t('domains.list.loading')}
      noneFiltered={t('domains.list.noneInState')}
      empty={{ title: t('domains.list.empty.title'), text: t('domains.list.empty.text') }}
      columns={columns}
      hrefOf={({ id }) => pageHref(locale, 'domain', { company, domain: id })}
    />
  )
})

function columnsOf(locale: Locale, t: Translate): TableColumn<Domain>[] {
  return [
    {
      id: 'host',
      label: t('domains.list.host'),
      isSortable: true,
      cell: domain => (
        <>
          <span className="wrap-anywhere me-2">{domain.host}</span>
          {domain.primary && (
            <span className="badge badge-outline">{t('domains.list.primary')}</span>
          )}
        </>
      )
    },
    {
      id: 'state',
      label: t('domains.list.state'),
      cell: ({ state }) => (
        <DomainStateMark state={state}>{t(`domains.states.${state}`)}</DomainStateMark>
      )
    },
    { id: 'title', label: t('domains.list.title'), cell: ({ title }) => title, isSecondary: true },
    {
      id: 'public',
      label: t('domains.list.public'),
      cell: domain => t(domain.public ? 'domains.list.open' : 'domains.list.invited')
    },
    {
      id: 'check',
      label: t('domains.list.check'),
      cell: ({ check }) =>
        check ? formatDateTime(new Date(check.at), locale) : t('domains.list.unchecked')
    }
  ]
}
