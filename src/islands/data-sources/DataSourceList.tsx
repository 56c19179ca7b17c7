import { useMemo } from 'react'
import type { DataSource } from '../../contract/data-sources.ts'
import { dateTag } from '../../core/text/date-tag.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { dataSourceList, dataSourceSortKeys } from '../../stores/admin/data-sources.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { createdColumn } from '../lists/created-column.ts'
import type { TableColumn } from '../lists/DataTable.tsx'
import { ListScreen } from '../lists/ListScreen.tsx'
import { createListAddressCodec } from '../lists/list-address.ts'
import { useListScreen } from '../lists/use-list-screen.ts'

const addresses = createListAddressCodec({ sorts: dataSourceSortKeys })

export const DataSourceList = withTranslation(function DataSourceList() {
  const { locale, t } = useTranslation()
  const screen = useListScreen(dataSourceList, addresses, 'name')
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  const { company } = screen
  return (
    <ListScreen
      screen={screen}
      label={t('dataSources.list.label')}
      search={t('dataSources.list.search')}
      create={{
        href: pageHref(locale, 'createDataSource', { company }),
        text: t('dataSources.create.title')
      }}
      loading={t('dataSources.list.loading')}
      empty={{ title: t('dataSources.empty.title'), text: t('dataSources.empty.text') }}
      columns={columns}
      hrefOf={({ id }) => pageHref(locale, 'dataSource', { company, data_source: id })}
    />
  )
})

function columnsOf(locale: Locale, t: Translate): TableColumn<DataSource>[] {
  const dates = new Intl.DateTimeFormat(dateTag(languageTag(locale)), { dateStyle: 'medium' })
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const date = (time: string) => dates.format(new Date(time))
  const none = t('dataSources.list.none')
  return [
    {
      id: 'name',
      label: t('dataSources.list.name'),
      isSortable: true,
      width: 2,
      cell: ({ name }) => name
    },
    {
      id: 'kind',
      label: t('dataSources.list.kind'),
      cell: ({ kind }) => t(`dataSources.kinds.${kind}`)
    },
    {
      id: 'version',
      label: t('dataSources.list.version'),
      width: 1.5,
      cell: ({ current }) =>
        current
          ? t('dataSources.list.versionOf', { number: current.number, date: date(current.created) })
          : t('dataSources.list.noVersion')
    },
    {
      id: 'rows',
      label: t('dataSources.list.rows'),
      cell: ({ current }) => (current ? numbers.format(current.rows) : none)
    },
    {
      id: 'checked',
      label: t('dataSources.list.checked'),
      cell: ({ checked }) => (checked ? date(checked) : t('dataSources.list.never'))
    },
    {
      id: 'categories',
      label: t('dataSources.list.categories'),
      cell: ({ category_count }) => numbers.format(category_count)
    },
    createdColumn(t('dataSources.list.created'), locale)
  ]
}
