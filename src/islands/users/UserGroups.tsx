import { useRef } from 'react'
import type { Member } from '../../contract/members.ts'
import { personName } from '../../core/text/person-name.ts'
import { type Locale, languageTag } from '../../i18n/index.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  type AddToGroupResult,
  addMemberToGroups,
  type NamedGroup,
  removeMemberFromGroup
} from '../../stores/admin/members.ts'
import { Form } from '../forms/Form.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { useForm } from '../forms/use-form.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { pageHref } from '../kit/page-href.ts'
import { Section } from '../kit/Section.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { useUndoMessage } from '../kit/use-undo-message.ts'
import { RefusalList } from '../lists/RefusalList.tsx'
import { GroupPicker, parseGroupPickerValue } from './GroupPicker.tsx'

interface MemberProps {
  member: Member
}

export function UserGroups({ member }: MemberProps) {
  const { locale, t } = useTranslation()
  const title = useRef<HTMLHeadingElement>(null)
  const announceWithUndo = useUndoMessage(t('person.access.undo'))
  const { id, groups, state } = member
  const removing = useAction({
    what: 'Removing the person from a group failed',
    async send(group: NamedGroup) {
      const undo = await removeMemberFromGroup(id, group)
      const text = t('person.groups.removed', { who: personName(member), group: group.name })
      announceWithUndo(text, undo)
      // the button that was pressed is gone
      title.current?.focus()
    }
  })
  if (state === 'waiting') {
    return (
      <Section id="user-groups" ref={title} title={t('person.groups.title')}>
        <p className="text-ink-soft">{t('person.groups.waiting')}</p>
      </Section>
    )
  }
  return (
    <Section
      id="user-groups"
      ref={title}
      title={t('person.groups.title')}
      note={t('person.groups.note')}
    >
      {removing.failure && <ErrorNote error={removing.failure} />}
      {groups.length === 0 ? (
        <p className="text-ink-soft">{t('person.groups.none')}</p>
      ) : (
        <ul className="flex flex-col divide-y divide-base-300">
          {groups.map(group => (
            <li key={group.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
              <a
                className="link min-w-0 flex-1 wrap-anywhere"
                href={pageHref(locale, 'group', { company: companyIdOfPage(), group: group.id })}
              >
                {group.name}
              </a>
              <button
                type="button"
                className="btn btn-outline btn-sm"
                aria-label={t('person.groups.removeNamed', { group: group.name })}
                aria-disabled={removing.isWorking}
                onClick={() => void removing.start(group)}
              >
                {t('person.groups.remove')}
              </button>
            </li>
          ))}
        </ul>
      )}
      <AddToGroups member={member} />
    </Section>
  )
}

function AddToGroups({ member: { id, groups } }: MemberProps) {
  const { t } = useTranslation()
  const form = useForm({
    what: 'Adding the person to groups failed',
    isEmptiedBySuccess: true,
    async send({ group_ids }) {
      const additions = await addMemberToGroups(id, parseGroupPickerValue(group_ids))
      for (const { error } of additions) if (error) reportError(error)
      return additions
    }
  })
  return (
    <>
      <Form
        form={form}
        submit={t('person.groups.submit')}
        look="btn-outline self-start"
        className="max-w-md gap-3"
        below={<Additions additions={form.result} />}
      >
        <GroupPicker except={groups.map(group => group.id)} />
      </Form>
      <UnsavedGuard form={form} isUnsaved={form.isWorking} />
    </>
  )
}

function Additions({ additions }: { additions: AddToGroupResult[] | undefined }) {
  const { locale, t } = useTranslation()
  if (!additions || additions.length === 0) return null
  const refused = additions.filter(({ error }) => error)
  const added = additions.filter(({ error }) => !error)
  return (
    <div role="status" className="flex flex-col gap-2">
      {refused.length > 0 && (
        <RefusalList
          title={t('person.groups.refused')}
          refused={refused.map(({ group, error }) => ({
            ...group,
            reason: error && t(`errors.${error.code}`)
          }))}
        />
      )}
      {added.length > 0 && (
        <p className="wrap-anywhere">
          {t('person.groups.added', {
            groups: listed(
              added.map(({ group }) => group.name),
              locale
            )
          })}
        </p>
      )}
    </div>
  )
}

function listed(names: readonly string[], locale: Locale): string {
  return new Intl.ListFormat(languageTag(locale)).format(names)
}
