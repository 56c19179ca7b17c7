import type { Member } from '../../contract/members.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { isLocale, locales, type Translate } from '../../i18n/index.ts'
import { type MemberChanges, reloadMember, updateMember } from '../../stores/admin/members.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { Field } from '../forms/Field.tsx'
import { SettingsSection } from '../forms/SettingsSection.tsx'
import type { FormValues } from '../forms/use-form.ts'
import { CopyButton } from '../kit/CopyButton.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface MemberProps {
  member: Member
}

export function UserIdentity({ member }: MemberProps) {
  const { t } = useTranslation()
  return (
    <SettingsSection<Member>
      id="user-identity"
      title={t('person.identity.title')}
      item={member}
      call="updateMember"
      // as: a form chooses no other language
      save={(changes, version) => updateMember(member.id, changes as MemberChanges, version)}
      load={() => reloadMember(member.id)}
      what="Saving the person failed"
      words={key => t(`person.identity.${key}`)}
      isLocked={member.state === 'waiting'}
      wordsOf={(name, value) => (name === 'locale' ? languageOf(value, t) : String(value))}
      shown={<Facts member={member} />}
      className="max-w-md gap-4"
      fields={was => <IdentityFields member={was} />}
      read={readIdentity}
    />
  )
}

function Facts({ member }: MemberProps) {
  const { locale, t } = useTranslation()
  const { id, username, email, state, created, last_seen } = member
  const timeOf = (time: string) => formatDateTime(new Date(time), locale)
  return (
    <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[auto_1fr]">
      <dt className="text-ink-soft">{fieldLabel('username', locale)}</dt>
      <dd className="wrap-anywhere">{username}</dd>
      <dt className="text-ink-soft">{fieldLabel('email', locale)}</dt>
      <dd className="wrap-anywhere">{email}</dd>
      <dt className="text-ink-soft">{fieldLabel('locale', locale)}</dt>
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

function IdentityFields({ member }: MemberProps) {
  const { locale, t } = useTranslation()
  const languages = member.locale === 'und' ? (['und', ...locales] as const) : locales
  return (
    <>
      <Field
        label={fieldLabel('username', locale)}
        name="username"
        autoComplete="off"
        initial={member.username}
        hint={t('person.identity.nameHint')}
      />
      <SelectField
        label={fieldLabel('locale', locale)}
        name="locale"
        initial={member.locale}
        hint={t('invite.languageHint')}
        options={languages.map(value => ({ value, label: t(`invite.languages.${value}`) }))}
      />
      <p className="meta wrap-anywhere">
        {member.email}. {t('person.identity.emailNote')}
      </p>
    </>
  )
}

function readIdentity({ username = '', locale }: FormValues): Partial<Member> {
  return { username: username.trim(), ...(isLocale(locale) ? { locale } : {}) }
}

function languageOf(value: unknown, t: Translate): string {
  return t(`invite.languages.${isLocale(value) ? value : 'und'}`)
}
