import { useStore } from '@nanostores/react'
import type { Group } from '../../contract/groups.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $groupCategories,
  addCategoryToGroup,
  loadGroupCategories,
  removeCategoryFromGroup
} from '../../stores/admin/groups.ts'
import { findCategories } from '../../stores/admin/item-search.ts'
import { ItemEntriesEditor } from '../details/ItemEntriesEditor.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation } from '../kit/use-translation.ts'

export function GroupCategories({ group: { id } }: { group: Group }) {
  const { locale, t } = useTranslation()
  const part = useStore($groupCategories, { ssr: 'initial' })
  return (
    <ItemEntriesEditor
      id="group-categories"
      part={part}
      words={(key, values) => t(`groups.categories.${key}`, values)}
      none={t('groups.categories.none')}
      nameOf={({ names }) => names[locale]}
      find={findCategories}
      load={after => loadGroupCategories(id, after)}
      add={category => addCategoryToGroup(id, category)}
      remove={category => removeCategoryFromGroup(id, category)}
      row={category => (
        <a
          className="link wrap-anywhere min-w-0 flex-1"
          href={pageHref(locale, 'category', { company: companyIdOfPage(), category: category.id })}
        >
          {category.names[locale]}
        </a>
      )}
    />
  )
}
