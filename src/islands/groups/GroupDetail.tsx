import { useStore } from '@nanostores/react'
import type { Group } from '../../contract/groups.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $group,
  $groupCategories,
  addCategoryToGroup,
  deleteGroup,
  loadGroupCategories,
  openGroup,
  reloadGroup,
  removeCategoryFromGroup
} from '../../stores/admin/groups.ts'
import { findCategories } from '../../stores/admin/item-search.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DeleteItem } from '../details/DeleteItem.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { ItemEntriesEditor } from '../details/ItemEntriesEditor.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { UsageByDay } from '../usage/UsageByDay.tsx'
import { GroupMembers } from './GroupMembers.tsx'
import { GroupSettings } from './GroupSettings.tsx'

export const GroupDetail = withTranslation(function GroupDetail() {
  const { t } = useTranslation()
  const categories = useStore($groupCategories, { ssr: 'initial' })
  return (
    <DetailFrame
      store={$group}
      open={openGroup}
      param="group"
      list="groups"
      missing={key => t(`groups.missing.${key}`)}
      nameOf={({ name }) => name}
    >
      {group => (
        <>
          <GroupSettings group={group} />
          <UsageByDay company={companyIdOfPage()} group={group.id} />
          <GroupMembers group={group} />
          <GroupCategories group={group} />
          <RecentChanges target={group.id} shown={[group, categories]} />
          <DeleteItem
            list="groups"
            name={group.name}
            words={(key, values) => t(`groups.delete.${key}`, values)}
            uses={['users', 'keys', 'deposits', 'requests']}
            usesWords={(use, count) => t(`groups.delete.uses.${use}`, { count })}
            remove={() => deleteGroup(group)}
            reload={() => reloadGroup(group.id)}
          />
          <PasswordPrompt />
        </>
      )}
    </DetailFrame>
  )
})

function GroupCategories({ group: { id } }: { group: Group }) {
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
