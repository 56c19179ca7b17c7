import { useStore } from '@nanostores/react'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { $group, $groupCategories, openGroup } from '../../stores/admin/groups.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { PasswordQuestion } from '../forms/PasswordQuestion.tsx'
import { useWords, withWords } from '../kit/use-words.ts'
import { UsageByDay } from '../usage/UsageByDay.tsx'
import { DeleteGroup } from './DeleteGroup.tsx'
import { GroupCategories } from './GroupCategories.tsx'
import { GroupMembers } from './GroupMembers.tsx'
import { GroupSettings } from './GroupSettings.tsx'

/** Shows a group and changes it in place: its settings, limits, members and categories. */
export const GroupDetail = withWords(function GroupDetail() {
  const { t } = useWords()
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
          <DeleteGroup group={group} />
          <PasswordQuestion />
        </>
      )}
    </DetailFrame>
  )
})
