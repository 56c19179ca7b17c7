import type { Member } from '../../contract/members.ts'
import { personName } from '../../core/text/person-name.ts'
import { deleteMember, reloadMember } from '../../stores/admin/members.ts'
import { DeleteWithTypedConfirmation } from '../details/DeleteWithTypedConfirmation.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface DeleteUserProps {
  member: Member
  isOwn: boolean
}

export function DeleteUser({ member, isOwn }: DeleteUserProps) {
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
