import { useStore } from '@nanostores/react'
import type { CategoryDetails } from '../../contract/company-categories.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $categoryGroups,
  addGroupToCategory,
  loadCategoryGroups,
  removeGroupFromCategory
} from '../../stores/admin/company-categories.ts'
import { findGroups } from '../../stores/admin/item-search.ts'
import { ItemEntriesEditor } from '../details/ItemEntriesEditor.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation } from '../kit/use-translation.ts'

export function CategoryGroups({ category: { id } }: { category: CategoryDetails }) {
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
