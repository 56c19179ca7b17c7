import { useStore } from '@nanostores/react'
import type { Member } from '../../contract/members.ts'
import { personName } from '../../core/text/person-name.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { $member, deleteMember, openMember, reloadMember } from '../../stores/admin/members.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DeleteWithTypedConfirmation } from '../details/DeleteWithTypedConfirmation.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { UserAccountControls } from './UserAccountControls.tsx'
import { UserGroups } from './UserGroups.tsx'
import { UserIdentity } from './UserIdentity.tsx'
import { UserPermissions } from './UserPermissions.tsx'
import { UserUsage } from './UserUsage.tsx'

const ApiKeys = lazyComponent(async () => (await import('../api-keys/ApiKeys.tsx')).ApiKeys)

export const UserDetail = withTranslation(function UserDetail() {
  const { t } = useTranslation()
  const self = useStore($user, { ssr: 'initial' })
  return (
    <DetailFrame
      store={$member}
      open={openMember}
      param="user"
      list="users"
      missing={key => t(`person.missing.${key}`)}
      nameOf={personName}
    >
      {member => {
        const isOwn = member.id === self?.id
        return (
          <>
            <UserIdentity member={member} />
            <UserAccountControls member={member} isOwn={isOwn} />
            <UserGroups member={member} />
            <UserPermissions member={member} isOwn={isOwn} />
            <UserUsage member={member} />
            {member.state !== 'waiting' && (
              <ApiKeys company={companyIdOfPage()} person={member.id} />
            )}
            <RecentChanges target={member.id} isPerson shown={[member]} />
            <DeleteUser member={member} isOwn={isOwn} />
            <PasswordPrompt />
          </>
        )
      }}
    </DetailFrame>
  )
})

interface DeleteUserProps {
  member: Member
  isOwn: boolean
}

function DeleteUser({ member, isOwn }: DeleteUserProps) {
  const { t } = useTranslation()
  const { id, email, state } = member
  // `UserAccountControls` has the button that removes a sign-up
  if (state === 'waiting') return null
  return (
    <DeleteWithTypedConfirmation
      list="users"
      words={(key, values) => t(`person.delete.${key}`, values)}
      note={t(isOwn ? 'person.delete.own' : 'person.delete.note')}
      typed={email}
      isOffered={!isOwn}
      remove={() => deleteMember(member)}
      reload={() => reloadMember(id)}
      done={t('person.delete.done', { who: personName(member) })}
    />
  )
}
