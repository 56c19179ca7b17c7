import { useRef, useState } from 'react'
import type { Member } from '../../contract/members.ts'
import { formatDateTime } from '../../core/text/format.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { changeMember, type MemberChanges, reloadMember } from '../../stores/admin/members.ts'
import { fieldSentence } from '../forms/account-form.ts'
import { EditConflict } from '../forms/EditConflict.tsx'
import { InPlaceEditor, InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { SelectField } from '../forms/SelectField.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { useForm, type Values } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { useVersionedSave } from '../forms/use-versioned-save.ts'
import { CopyButton } from '../kit/CopyButton.tsx'
import { Field } from '../kit/Field.tsx'
import { Section } from '../kit/Section.tsx'
import { useWords } from '../kit/use-words.ts'

interface MemberProps {
  member: Member
}

type Identity = Pick<Member, 'version' | 'username' | 'locale'>

/**
 * Shows who a person is. An administrator can change the name and the language in place. If
 * somebody else has changed them meanwhile, asks which to keep.
 */
export function UserIdentity({ member }: MemberProps) {
  const { t } = useWords()
  const title = useRef<HTMLHeadingElement>(null)
  const versioned = useVersionedSave<Identity, Partial<Identity>>({
    // as: a form chooses no other language
    save: (changes, version) => changeMember(member.id, changes as MemberChanges, version),
    load: () => reloadMember(member.id)
  })
  return (
    <>
      <EditConflict
        versioned={versioned}
        title={title}
        labelOf={name => t(name === 'locale' ? 'invite.language' : 'person.identity.name')}
        wordsOf={(name, value) => (name === 'locale' ? languageOf(value, t) : String(value))}
      />
      <Section id="user-identity" ref={title} title={t('person.identity.title')}>
        <InPlaceEditor
          label={t('person.identity.edit')}
          shown={<Facts member={member} />}
          isLocked={versioned.conflict !== undefined || member.state === 'waiting'}
        >
          {close => (
            <IdentityForm
              member={member}
              save={(changes, was) => versioned.change(was, changes)}
              close={close}
            />
          )}
        </InPlaceEditor>
      </Section>
    </>
  )
}

function Facts({ member }: MemberProps) {
  const { locale, t } = useWords()
  const { id, username, email, state, created, last_seen } = member
  const timeOf = (time: string) => formatDateTime(new Date(time), locale as Locale)
  return (
    <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[auto_1fr]">
      <dt className="text-ink-soft">{t('person.identity.name')}</dt>
      <dd className="wrap-anywhere">{username}</dd>
      <dt className="text-ink-soft">{t('person.identity.email')}</dt>
      <dd className="wrap-anywhere">{email}</dd>
      <dt className="text-ink-soft">{t('invite.language')}</dt>
      <dd>{languageOf(member.locale, t)}</dd>
      <dt className="text-ink-soft">{t('person.identity.state')}</dt>
      <dd data-member-state={state}>{t(`person.identity.states.${state}`)}</dd>
      <dt className="text-ink-soft">{t('person.identity.created')}</dt>
      <dd className="tabular">{timeOf(created)}</dd>
      <dt className="text-ink-soft">{t('person.identity.lastSeen')}</dt>
      <dd className="tabular">{last_seen ? timeOf(last_seen) : t('person.identity.never')}</dd>
      <dt className="text-ink-soft">{t('person.identity.id')}</dt>
      <dd className="flex flex-wrap items-center gap-x-3">
        <span className="break-all font-mono text-sm">{id}</span>
        <CopyButton text={id} label={t('person.identity.copyId')} />
      </dd>
    </dl>
  )
}

interface IdentityFormProps extends MemberProps {
  /** Saves changes. `was` is the person as they were when the form was opened. */
  save: (changes: Partial<Identity>, was: Member) => Promise<void>
  close: () => void
}

function IdentityForm({ member, save, close }: IdentityFormProps) {
  const { t } = useWords()
  // the person may change while the form is open
  const [was] = useState(member)
  const check = useInputCheck('updateMember')
  const form = useForm({
    what: 'Saving the person failed',
    inputErrors: values => check({ ...readIdentity(values), id: was.id }),
    async send(values) {
      await save(readIdentity(values), was)
      close()
    }
  })
  const languages = was.locale === 'und' ? (['und', 'en', 'fr'] as const) : (['en', 'fr'] as const)
  return (
    <>
      <InPlaceForm
        form={form}
        submit={t('person.identity.save')}
        className="max-w-md gap-4"
        cancel={t('person.identity.cancel')}
        close={close}
      >
        <Field
          label={t('person.identity.name')}
          name="username"
          autoComplete="off"
          initial={was.username}
          hint={t('person.identity.nameHint')}
          error={fieldSentence(form.errors, 'username', t)}
        />
        <SelectField
          label={t('invite.language')}
          name="locale"
          initial={was.locale}
          hint={t('invite.languageHint')}
          options={languages.map(value => ({ value, label: t(`invite.languages.${value}`) }))}
          error={fieldSentence(form.errors, 'locale', t)}
        />
        <p className="meta wrap-anywhere">
          {was.email}. {t('person.identity.emailNote')}
        </p>
      </InPlaceForm>
      <UnsavedGuard form={form} />
    </>
  )
}

/** Returns name and language from the values of the form. No language is set if none was chosen. */
function readIdentity({ username = '', locale }: Values): Partial<Identity> {
  const chosen = (['en', 'fr'] as const).find(each => each === locale)
  return { username: username.trim(), ...(chosen ? { locale: chosen } : {}) }
}

function languageOf(value: unknown, t: Translate): string {
  const known = (['en', 'fr'] as const).find(each => each === value) ?? 'und'
  return t(`invite.languages.${known}`)
}
