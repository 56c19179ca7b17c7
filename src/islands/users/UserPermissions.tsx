import { useId } from 'react'
import type { Member } from '../../contract/members.ts'
import { personName } from '../../core/text/person-name.ts'
import { reloadMember, setMemberPermissions } from '../../stores/admin/members.ts'
import { useVersionedSave } from '../forms/use-versioned-save.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Section } from '../kit/Section.tsx'
import { showMessage } from '../kit/show-message.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface UserPermissionsProps {
  member: Member
  isOwn: boolean
}

type Permitted = Pick<Member, 'version' | 'permissions'>

export function UserPermissions({ member, isOwn }: UserPermissionsProps) {
  const { t } = useTranslation()
  const id = useId()
  const { permissions, state } = member
  const isAdmin = permissions.includes('admin')
  const obstacle = isOwn
    ? t('person.permissions.own')
    : state === 'waiting'
      ? t('person.permissions.waiting')
      : undefined
  // only this switch changes permissions, so somebody else can only have made the same change
  const { change } = useVersionedSave<Permitted, Partial<Permitted>>({
    save: (changes, version) => setMemberPermissions(member.id, changes.permissions ?? [], version),
    load: () => reloadMember(member.id)
  })
  const action = useAction({
    what: 'Changing the permission failed',
    async send(isGranted: boolean) {
      const others = permissions.filter(each => each !== 'admin')
      await change(member, { permissions: isGranted ? ['admin', ...others] : others })
      const words = isGranted ? 'person.permissions.granted' : 'person.permissions.taken'
      showMessage(t(words, { who: personName(member) }))
    }
  })
  const isOff = obstacle !== undefined || action.isWorking
  return (
    <Section id="user-permissions" title={t('person.permissions.title')}>
      {action.failure && <ErrorNote error={action.failure} />}
      <div className="flex items-start gap-4">
        <input
          id={id}
          type="checkbox"
          role="switch"
          className="switch"
          checked={isAdmin}
          aria-checked={isAdmin}
          aria-disabled={isOff}
          aria-describedby={`${id}-note`}
          onChange={() => {
            if (!isOff) void action.start(!isAdmin)
          }}
        />
        <div className="min-w-0">
          <label htmlFor={id} className="font-medium">
            {t('person.permissions.admin')}
          </label>
          <div id={`${id}-note`}>
            <p className="meta">{t('person.permissions.adminNote')}</p>
            {obstacle && <p className="mt-1">{obstacle}</p>}
          </div>
        </div>
      </div>
      {permissions.includes('operator') && <p>{t('person.permissions.operator')}</p>}
    </Section>
  )
}
