import { useStore } from '@nanostores/react'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $group,
  $groupCategories,
  deleteGroup,
  openGroup,
  reloadGroup
} from '../../stores/admin/groups.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DeleteItem } from '../details/DeleteItem.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { UsageByDay } from '../usage/UsageByDay.tsx'
import { GroupCategories } from './GroupCategories.tsx'
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
