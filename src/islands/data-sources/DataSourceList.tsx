import { useMemo } from 'react'
import type { DataSource } from '../../contract/data-sources.ts'
import { pathOf } from '../../core/pages/page-table.ts'
import { type Locale, languageTag, localizedPath, type T } from '../../i18n/index.ts'
import { dataSourceList, dataSourceSorts } from '../../stores/admin/data-sources.ts'
import { NotHere } from '../kit/NotHere.tsx'
import { useWords, withWords } from '../kit/use-words.ts'
import type { Column } from '../lists/DataTable.tsx'
import { EmptyState } from '../lists/EmptyState.tsx'
import { ListRows } from '../lists/ListScreen.tsx'
import { addressOf } from '../lists/list-address.ts'
import { useListScreen } from '../lists/use-list-screen.ts'

const addresses = addressOf({ sorts: dataSourceSorts })

/** Lists the data sources of a company. If there are none, says what data sources will be. */
export const DataSourceList = withWords(function DataSourceList() {
  const { locale, t } = useWords()
  const screen = useListScreen(dataSourceList, addresses, 'name')
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  if (screen.isMissing) return <NotHere />
  const { company } = screen
  return (
    <ListRows
      screen={screen}
      label={t('dataSources.list.label')}
      loading={t('dataSources.list.loading')}
      empty={
        <EmptyState title={t('dataSources.empty.title')} text={t('dataSources.empty.text')}>
          <a
            className="btn btn-outline"
            href={localizedPath(locale, pathOf('categories', { company }))}
          >
            {t('dataSources.empty.go')}
          </a>
        </EmptyState>
      }
      columns={columns}
      hrefOf={({ id }) => localizedPath(locale, pathOf('dataSource', { company, data_source: id }))}
    />
  )
})

function columnsOf(locale: Locale, t: T): Column<DataSource>[] {
  const dates = new Intl.DateTimeFormat(languageTag(locale), { dateStyle: 'medium' })
  return [
    { id: 'name', label: t('dataSources.list.name'), isSortable: true, cell: ({ name }) => name },
    {
      id: 'created',
      label: t('dataSources.list.created'),
      isSortable: true,
      cell: ({ created }) => dates.format(new Date(created))
    }
  ]
}
