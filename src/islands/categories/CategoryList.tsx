import { useMemo } from 'react'
import type { CategoryDetails } from '../../contract/company-categories.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { categoryList, categorySortKeys } from '../../stores/admin/company-categories.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { createdColumn } from '../lists/created-column.ts'
import type { TableColumn } from '../lists/DataTable.tsx'
import { FilterBar, FilterSelect } from '../lists/FilterSelect.tsx'
import { ListScreen } from '../lists/ListScreen.tsx'
import { createListAddressCodec } from '../lists/list-address.ts'
import { useListScreen } from '../lists/use-list-screen.ts'
import { categorySettingChoices } from './CategoryFields.tsx'

const addresses = createListAddressCodec({
  sorts: categorySortKeys,
  filters: { visibility: value => categorySettingChoices.visibility.some(each => each === value) }
})

export const CategoryList = withTranslation(function CategoryList() {
  const { locale, t } = useTranslation()
  const screen = useListScreen(categoryList, addresses, `name_${locale}`)
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  const { company, address, set } = screen
  return (
    <ListScreen
      screen={screen}
      label={t('admin.categories.label')}
      search={t('admin.categories.search')}
      create={{
        href: pageHref(locale, 'createCategory', { company }),
        text: t('admin.categories.new')
      }}
      filters={
        <FilterBar activeFilterCount={screen.filterCount} onClear={() => set({ visibility: '' })}>
          <FilterSelect
            label={t('admin.categories.visibility')}
            value={address?.visibility}
            options={categorySettingChoices.visibility.map(each => [
              each,
              t(`admin.categories.visibilities.${each}`)
            ])}
            onChoose={visibility => set({ visibility })}
          />
        </FilterBar>
      }
      loading={t('admin.categories.loading')}
      noneFiltered={t('admin.categories.noneVisible')}
      empty={{ title: t('admin.categories.empty.title'), text: t('admin.categories.empty.text') }}
      columns={columns}
      hrefOf={({ id }) => pageHref(locale, 'category', { company, category: id })}
    />
  )
})

function columnsOf(locale: Locale, t: Translate): TableColumn<CategoryDetails>[] {
  const numbers = new Intl.NumberFormat(languageTag(locale))
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
      cell: category => numbers.format(category.group_count)
    },
    createdColumn(t('admin.categories.created'), locale)
  ]
}
