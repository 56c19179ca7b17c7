import { useStore } from '@nanostores/react'
import { useEffect, useRef, useState } from 'react'
import type { AppError } from '../../contract/errors.ts'
import type { Group } from '../../contract/groups.ts'
import type { Member } from '../../contract/members.ts'
import { email, firstOf, required } from '../../core/input/validators.ts'
import {
  $groupMembers,
  addMember,
  addMembers,
  findPeople,
  loadMembers,
  type MemberAddition,
  removeMember
} from '../../stores/groups.ts'
import { fieldSentence } from '../forms/account-form.ts'
import { Combobox } from '../forms/Combobox.tsx'
import { Form } from '../forms/Form.tsx'
import { SeveralValues } from '../forms/SeveralValues.tsx'
import { Unsaved } from '../forms/Unsaved.tsx'
import { useAction } from '../forms/use-action.ts'
import { useForm } from '../forms/use-form.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWords } from '../kit/use-words.ts'

interface GroupProps {
  group: Group
}

const undoMs = 10_000

/** Lists the members of a group, adds people by searching for them, and removes members. */
export function GroupMembers({ group }: GroupProps) {
  const { t } = useWords()
  const list = useStore($groupMembers, { ssr: 'initial' })
  const [news, setNews] = useState('')
  const [removed, setRemoved] = useState<Member>()
  const title = useRef<HTMLHeadingElement>(null)
  const { id } = group

  // one action, so that a later success removes what an earlier failure says
  const changing = useAction({
    what: 'Changing the members failed',
    async send({ member, isAdded }: { member: Member; isAdded: boolean }) {
      if (isAdded) {
        await addMember(id, member)
        setRemoved(undefined)
        setNews(t('groups.members.added', { who: nameOf(member) }))
        return
      }
      await removeMember(id, member)
      setNews('')
      setRemoved(member)
      // the button that was pressed is gone
      title.current?.focus()
    }
  })
  const paging = useAction({
    what: 'Loading more members failed',
    send: (after: string | undefined) => loadMembers(id, after)
  })
  useEffect(() => {
    if (!removed) return
    const timer = setTimeout(() => setRemoved(undefined), undoMs)
    return () => clearTimeout(timer)
  }, [removed])

  const search = async (text: string) => {
    const found = await findPeople(text)
    return found.map(member => ({
      item: member,
      id: member.id,
      label: nameOf(member),
      note: member.email
    }))
  }

  return (
    <section
      className="sheet flex flex-col gap-4"
      aria-labelledby="group-members"
      data-state={list.status}
    >
      <div>
        <h2 id="group-members" ref={title} tabIndex={-1} className="section-title">
          {t('groups.members.title')}
        </h2>
        <p className="meta">{t('groups.members.count', { count: group.user_count })}</p>
      </div>
      <Combobox
        label={t('groups.members.find')}
        hint={t('groups.members.findHint')}
        search={search}
        choose={member => void changing.start({ member, isAdded: true })}
        isBusy={changing.isWorking}
      />
      <AddSeveral group={group} />
      {changing.failure && <ErrorNote error={changing.failure} />}
      <div role="status" className="flex flex-wrap items-center gap-3 empty:hidden">
        {removed ? t('groups.members.removed', { who: nameOf(removed) }) : news}
        {removed && (
          <button
            type="button"
            className="btn btn-outline btn-sm"
            aria-disabled={changing.isWorking}
            onClick={() => void changing.start({ member: removed, isAdded: true })}
          >
            {t('groups.members.undo')}
          </button>
        )}
      </div>
      {list.status === 'loading' && (
        <p role="status" className="text-ink-soft">
          {t('common.loading')}
        </p>
      )}
      {list.status === 'failed' && (
        <ErrorNote error={list.error}>
          <button
            type="button"
            className="btn btn-outline btn-sm self-start"
            onClick={() => void loadMembers(id)}
          >
            {t('common.retry')}
          </button>
        </ErrorNote>
      )}
      {list.status === 'ready' && list.items.length === 0 && (
        <p className="text-ink-soft">{t('groups.members.none')}</p>
      )}
      {list.status === 'ready' && list.items.length > 0 && (
        <ul className="flex flex-col divide-y divide-base-300">
          {list.items.map(member => (
            <li key={member.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
              <div className="min-w-0 flex-1">
                <p className="wrap-anywhere font-medium">
                  {nameOf(member)}
                  {member.state !== 'active' && (
                    <span className="badge badge-outline ms-2">
                      {t(`groups.members.states.${member.state}`)}
                    </span>
                  )}
                </p>
                <p className="meta wrap-anywhere">{member.email}</p>
              </div>
              <button
                type="button"
                className="btn btn-outline btn-sm"
                aria-label={t('groups.members.removeNamed', { who: nameOf(member) })}
                aria-disabled={changing.isWorking}
                onClick={() => void changing.start({ member, isAdded: false })}
              >
                {t('groups.members.remove')}
              </button>
            </li>
          ))}
        </ul>
      )}
      {paging.failure && <ErrorNote error={paging.failure} />}
      {list.status === 'ready' && list.hasMore && (
        <button
          type="button"
          className="btn btn-outline self-start"
          aria-disabled={paging.isWorking}
          onClick={() => void paging.start(list.items.at(-1)?.id)}
        >
          {t('groups.more')}
        </button>
      )}
    </section>
  )
}

/** Adds people by their e-mails, and says who could not be added and why. */
function AddSeveral({ group }: GroupProps) {
  const { t } = useWords()
  const [done, setDone] = useState<{ count: number; total: number }>()
  const form = useForm({
    what: 'Adding members failed',
    rules: { emails: firstOf(required, everyLine) },
    isEmptiedBySuccess: true,
    async send({ emails = '' }) {
      const all = emails.split('\n')
      setDone({ count: 0, total: all.length })
      const additions = await addMembers(group.id, all, count =>
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
          <SeveralValues
            label={t('groups.members.emails')}
            name="emails"
            hint={t('groups.members.emailsHint')}
            error={fieldSentence(form.errors, 'emails', t)}
          />
          {done && (
            <p role="status" className="tabular text-ink-soft">
              {t('groups.members.progress', { done: done.count, total: done.total })}
            </p>
          )}
        </Form>
      </details>
      {/* outside, because its question must be seen while the details are closed */}
      <Unsaved form={form} isUnsaved={form.isWorking} />
    </>
  )
}

function Additions({ additions }: { additions: MemberAddition[] | undefined }) {
  const { t } = useWords()
  if (!additions) return null
  const refused = additions.filter(({ error }) => error)
  return (
    <div role="status" className="flex flex-col gap-2">
      {refused.length > 0 && (
        <div className="alert alert-error alert-outline flex flex-col items-start gap-1">
          <p>{t('groups.members.refusedCount', { count: refused.length })}</p>
          <ul className="list-disc ps-5">
            {refused.map(({ email, error }) => (
              <li key={email} className="wrap-anywhere">
                {email} – {error && refusalOf(error, t)}
              </li>
            ))}
          </ul>
        </div>
      )}
      <p>{t('groups.members.addedCount', { count: additions.length - refused.length })}</p>
    </div>
  )
}

function refusalOf({ code }: AppError, t: ReturnType<typeof useWords>['t']): string {
  return code === 'not_found' ? t('groups.members.unknown') : t(`errors.${code}`)
}

function nameOf({ username, email }: Pick<Member, 'username' | 'email'>): string {
  return username || email
}

function everyLine(value: unknown) {
  const faults = String(value ?? '')
    .split('\n')
    .map(line => email(line))
  return faults.find(fault => fault !== undefined)
}
