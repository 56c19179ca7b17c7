import { useStore } from '@nanostores/react'
import { useState } from 'react'
import type { Group } from '../../contract/groups.ts'
import type { AppError } from '../../contract/kit/errors.ts'
import { email, firstFaultOf, required } from '../../core/input/validators.ts'
import { personName } from '../../core/text/person-name.ts'
import type { Translate } from '../../i18n/index.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $groupMemberSearchText,
  $groupMembers,
  addGroupMember,
  addGroupMembers,
  loadGroupMembers,
  type MemberAdditionResult,
  removeGroupMember,
  searchGroupMembers
} from '../../stores/admin/groups.ts'
import { findPeople } from '../../stores/admin/item-search.ts'
import { ItemEntriesEditor } from '../details/ItemEntriesEditor.tsx'
import { Form } from '../forms/Form.tsx'
import { MultiValueField } from '../forms/MultiValueField.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { useForm } from '../forms/use-form.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { SearchBox } from '../lists/FilterFields.tsx'
import { RefusalList } from '../lists/RefusalList.tsx'

interface GroupProps {
  group: Group
}

const searchedFrom = 10

export function GroupMembers({ group }: GroupProps) {
  const { locale, t } = useTranslation()
  const part = useStore($groupMembers, { ssr: 'initial' })
  const { id } = group
  const company = companyIdOfPage()
  const q = useStore($groupMemberSearchText, { ssr: 'initial' })
  return (
    <ItemEntriesEditor
      id="group-members"
      part={part}
      words={(key, values) => t(`groups.members.${key}`, values)}
      none={q ? t('groups.members.noMatches', { query: q }) : t('groups.members.none')}
      note={t('groups.members.count', { count: group.user_count })}
      nameOf={personName}
      find={findPeople}
      noteOf={({ email }) => email}
      load={after => loadGroupMembers(id, after)}
      add={member => addGroupMember(id, member)}
      remove={member => removeGroupMember(id, member)}
      row={member => (
        <div className="min-w-0 flex-1">
          <p className="wrap-anywhere font-medium">
            <a className="link" href={pageHref(locale, 'user', { company, user: member.id })}>
              {personName(member)}
            </a>
            {member.state !== 'active' && (
              <span className="badge badge-outline ms-2">
                {t(`groups.members.states.${member.state}`)}
              </span>
            )}
          </p>
          <p className="meta wrap-anywhere">{member.email}</p>
        </div>
      )}
    >
      <AddSeveral group={group} />
      {(q !== '' || group.user_count > searchedFrom) && (
        <search>
          <SearchBox
            label={t('groups.members.search')}
            value={q}
            onSearch={text => void searchGroupMembers(id, text)}
          />
        </search>
      )}
    </ItemEntriesEditor>
  )
}

function AddSeveral({ group }: GroupProps) {
  const { t } = useTranslation()
  const [done, setDone] = useState<{ count: number; total: number }>()
  const form = useForm({
    what: 'Adding members failed',
    rules: { emails: firstFaultOf(required, everyLine) },
    isEmptiedBySuccess: true,
    async send({ emails = '' }) {
      const all = emails.split('\n')
      setDone({ count: 0, total: all.length })
      const additions = await addGroupMembers(group.id, all, count =>
        setDone({ count, total: all.length })
      )
      setDone(undefined)
      return additions
    }
  })
  return (
    <>
      <details>
        <summary className="min-h-8 cursor-pointer font-medium text-sm">
          {t('groups.members.several')}
        </summary>
        <Form
          form={form}
          submit={t('groups.members.addAll')}
          look="btn-outline self-start"
          className="gap-4 pt-3"
          below={<Additions additions={form.result} />}
        >
          <MultiValueField
            label={t('groups.members.emails')}
            name="emails"
            hint={t('groups.members.emailsHint')}
          />
          {done && (
            <p role="status" className="tabular text-ink-soft">
              {t('groups.members.progress', { done: done.count, total: done.total })}
            </p>
          )}
        </Form>
      </details>
      {/* outside, because its question must be seen while the details are closed */}
      <UnsavedGuard form={form} isUnsaved={form.isWorking} />
    </>
  )
}

function Additions({ additions }: { additions: MemberAdditionResult[] | undefined }) {
  const { t } = useTranslation()
  if (!additions) return null
  const refused = additions.filter(({ error }) => error)
  return (
    <div role="status" className="flex flex-col gap-2">
      {refused.length > 0 && (
        <RefusalList
          title={t('groups.members.refusedCount', { count: refused.length })}
          refused={refused.map(({ email, error }) => ({
            id: email,
            name: email,
            reason: error && refusalOf(error, t)
          }))}
        />
      )}
      <p>{t('groups.members.addedCount', { count: additions.length - refused.length })}</p>
    </div>
  )
}

function refusalOf({ code }: AppError, t: Translate): string {
  return code === 'not_found' ? t('groups.members.unknown') : t(`errors.${code}`)
}

function everyLine(value: unknown) {
  const faults = String(value ?? '')
    .split('\n')
    .map(line => email(line))
  return faults.find(fault => fault !== undefined)
}
