import { useStore } from '@nanostores/react'
import type { Group } from '../../contract/groups.ts'
import { pathOf } from '../../core/pages/page-table.ts'
import { localizedPath } from '../../i18n/index.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $groupCategories,
  addGroupCategory,
  loadGroupCategories,
  removeGroupCategory
} from '../../stores/admin/groups.ts'
import { findCategories } from '../../stores/admin/item-search.ts'
import { ItemEntries } from '../details/ItemEntries.tsx'
import { useWords } from '../kit/use-words.ts'

/**
 * Lists the categories that the members of a group may use. Categories can be added and removed.
 */
export function GroupCategories({ group: { id } }: { group: Group }) {
  const { locale, t } = useWords()
  const part = useStore($groupCategories, { ssr: 'initial' })
  const pathTo = (category: string) => pathOf('category', { company: companyIdOfPage(), category })
  return (
    <ItemEntries
      id="group-categories"
      part={part}
      words={(key, values) => t(`groups.categories.${key}`, values)}
      none={t('groups.categories.none')}
      nameOf={({ names }) => names[locale]}
      find={findCategories}
      load={after => loadGroupCategories(id, after)}
      add={category => addGroupCategory(id, category)}
      remove={category => removeGroupCategory(id, category)}
      row={category => (
        <a
          className="link wrap-anywhere min-w-0 flex-1"
          href={localizedPath(locale, pathTo(category.id))}
        >
          {category.names[locale]}
        </a>
      )}
    />
  )
}
