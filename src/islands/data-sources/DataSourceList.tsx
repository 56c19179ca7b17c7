import { useMemo } from 'react'
import type { DataSource } from '../../contract/data-sources.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { dataSourceList, dataSourceSortKeys } from '../../stores/admin/data-sources.ts'
import { AdminPageMissing } from '../kit/AdminPageMissing.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { createdColumn } from '../lists/created-column.ts'
import type { TableColumn } from '../lists/DataTable.tsx'
import { EmptyState } from '../lists/EmptyState.tsx'
import { ListTable } from '../lists/ListScreen.tsx'
import { createListAddressCodec } from '../lists/list-address.ts'
import { useListScreen } from '../lists/use-list-screen.ts'

const addresses = createListAddressCodec({ sorts: dataSourceSortKeys })

export const DataSourceList = withTranslation(function DataSourceList() {
  const { locale, t } = useTranslation()
  const screen = useListScreen(dataSourceList, addresses, 'name')
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  if (screen.isMissing) return <AdminPageMissing />
  const { company } = screen
  return (
    <ListTable
      screen={screen}
      label={t('dataSources.list.label')}
      loading={t('dataSources.list.loading')}
      empty={
        <EmptyState title={t('dataSources.empty.title')} text={t('dataSources.empty.text')}>
          <a className="btn btn-outline" href={pageHref(locale, 'categories', { company })}>
            {t('dataSources.empty.go')}
          </a>
        </EmptyState>
      }
      columns={columns}
      hrefOf={({ id }) => pageHref(locale, 'dataSource', { company, data_source: id })}
    />
  )
})

function columnsOf(locale: Locale, t: Translate): TableColumn<DataSource>[] {
  return [
    { id: 'name', label: t('dataSources.list.name'), isSortable: true, cell: ({ name }) => name },
    createdColumn(t('dataSources.list.created'), locale)
  ]
}
