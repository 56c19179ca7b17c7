import { useMemo } from 'react'
import type { CompanyCategory } from '../../contract/company-categories.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { categoryList, categorySortKeys } from '../../stores/admin/company-categories.ts'
import { AdminPageMissing } from '../kit/AdminPageMissing.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useWords, withWords } from '../kit/use-words.ts'
import type { TableColumn } from '../lists/DataTable.tsx'
import { EmptyState } from '../lists/EmptyState.tsx'
import { FilterChip, Filters } from '../lists/FilterChip.tsx'
import { ListHead, ListRows } from '../lists/ListScreen.tsx'
import { createListAddress } from '../lists/list-address.ts'
import { useListScreen } from '../lists/use-list-screen.ts'
import { settingChoices } from './CategoryFields.tsx'

const addresses = createListAddress({
  sorts: categorySortKeys,
  filters: { visibility: value => settingChoices.visibility.some(each => each === value) }
})

/** Lists the categories of a company. They can be searched by name, filtered and sorted. */
export const CategoryList = withWords(function CategoryList() {
  const { locale, t } = useWords()
  const screen = useListScreen(categoryList, addresses, `name_${locale}`)
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  if (screen.isMissing) return <AdminPageMissing />
  const { company, address, set } = screen
  const create = (
    <a className="btn btn-primary" href={pageHref(locale, 'createCategory', { company })}>
      {t('admin.categories.new')}
    </a>
  )
  return (
    <div className="flex flex-col gap-4">
      <ListHead
        screen={screen}
        label={t('admin.categories.label')}
        search={t('admin.categories.search')}
        create={create}
      >
        <Filters count={screen.filterCount} onClear={() => set({ visibility: '' })}>
          <FilterChip
            label={t('admin.categories.visibility')}
            value={address?.visibility}
            options={settingChoices.visibility.map(each => [
              each,
              t(`admin.categories.visibilities.${each}`)
            ])}
            onChoose={visibility => set({ visibility })}
          />
        </Filters>
      </ListHead>
      <ListRows
        screen={screen}
        label={t('admin.categories.label')}
        loading={t('admin.categories.loading')}
        noneFiltered={t('admin.categories.noneVisible')}
        empty={
          <EmptyState
            title={t('admin.categories.empty.title')}
            text={t('admin.categories.empty.text')}
          >
            {create}
          </EmptyState>
        }
        columns={columns}
        hrefOf={({ id }) => pageHref(locale, 'category', { company, category: id })}
      />
    </div>
  )
})

function columnsOf(locale: Locale, t: Translate): TableColumn<CompanyCategory>[] {
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const dates = new Intl.DateTimeFormat(languageTag(locale), { dateStyle: 'medium' })
  return [
    {
      id: `name_${locale}`,
      label: t('admin.categories.name'),
      isSortable: true,
      cell: category => (
        <>
          <span className="me-2">{category.names[locale]}</span>
          {category.default && (
            <span className="badge badge-outline">{t('admin.categories.default')}</span>
          )}
        </>
      )
    },
    {
      id: 'visibility',
      label: t('admin.categories.visibility'),
      cell: category => t(`admin.categories.visibilities.${category.visibility}`)
    },
    {
      id: 'store',
      label: t('admin.categories.store'),
      cell: category => t(`admin.categories.stores.${category.store}`)
    },
    {
      id: 'groups',
      label: t('admin.categories.groups'),
      cell: category => numbers.format(category.group_ids.length)
    },
    {
      id: 'created',
      label: t('admin.categories.created'),
      isSortable: true,
      isSecondary: true,
      cell: category => dates.format(new Date(category.created))
    }
  ]
}
