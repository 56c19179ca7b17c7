import { useStore } from '@nanostores/react'
import type { CategoryDetails } from '../../contract/company-categories.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $category,
  $categoryGroups,
  addGroupToCategory,
  deleteCategory,
  loadCategoryGroups,
  openCategory,
  reloadCategory,
  removeGroupFromCategory
} from '../../stores/admin/company-categories.ts'
import { findGroups } from '../../stores/admin/item-search.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DeleteItem } from '../details/DeleteItem.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { ItemEntriesEditor } from '../details/ItemEntriesEditor.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { CategorySettings } from './CategorySettings.tsx'

export const CategoryDetail = withTranslation(function CategoryDetail() {
  const { locale, t } = useTranslation()
  return (
    <DetailFrame
      store={$category}
      open={openCategory}
      param="category"
      list="categories"
      missing={key => t(`category.missing.${key}`)}
      nameOf={({ names }) => names[locale]}
    >
      {category => (
        <>
          <CategorySettings category={category} />
          <CategoryGroups category={category} />
          <RecentChanges target={category.id} shown={[category]} />
          <DeleteItem
            list="categories"
            name={category.names[locale]}
            words={(key, values) => t(`category.delete.${key}`, values)}
            uses={['deposits', 'groups', 'default']}
            usesWords={(use, count) => t(`category.delete.uses.${use}`, { count })}
            remove={() => deleteCategory(category)}
            reload={() => reloadCategory(category.id)}
          />
          <PasswordPrompt />
        </>
      )}
    </DetailFrame>
  )
})

function CategoryGroups({ category: { id } }: { category: CategoryDetails }) {
  const { locale, t } = useTranslation()
  const part = useStore($categoryGroups, { ssr: 'initial' })
  return (
    <ItemEntriesEditor
      id="category-groups"
      part={part}
      words={(key, values) => t(`category.groups.${key}`, values)}
      none={t('category.groups.none')}
      note={t('category.groups.note')}
      nameOf={({ name }) => name}
      find={findGroups}
      load={after => loadCategoryGroups(id, after)}
      add={group => addGroupToCategory(id, group)}
      remove={group => removeGroupFromCategory(id, group)}
      row={group => (
        <a
          className="link wrap-anywhere min-w-0 flex-1"
          href={pageHref(locale, 'group', { company: companyIdOfPage(), group: group.id })}
        >
          {group.name}
        </a>
      )}
    />
  )
}
