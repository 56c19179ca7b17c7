import { useRef, useState } from 'react'
import type { DomainDetails } from '../../contract/domains.ts'
import { required } from '../../core/input/validators.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { changeDomain, type DomainChanges, reloadDomain } from '../../stores/admin/domains.ts'
import { fieldSentence } from '../forms/account-form.ts'
import { Choices } from '../forms/Choices.tsx'
import { EditConflict } from '../forms/EditConflict.tsx'
import { InPlaceEditor, InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { SelectField } from '../forms/SelectField.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { useForm, type Values } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { useVersionedSave } from '../forms/use-versioned-save.ts'
import { Field } from '../kit/Field.tsx'
import { Section } from '../kit/Section.tsx'
import { useWords } from '../kit/use-words.ts'

interface DomainProps {
  domain: DomainDetails
}

const fields = ['name', 'title', 'public', 'locale', 'contact', 'privacy', 'terms'] as const
type Settings = Pick<DomainDetails, (typeof fields)[number]>
type Versioned = Settings & Pick<DomainDetails, 'version'>

const languages = { en: 'English', fr: 'Français' } as const

/** Shows the settings of a domain and lets an administrator change them in place. */
export function DomainSettings({ domain }: DomainProps) {
  const { t } = useWords()
  const title = useRef<HTMLHeadingElement>(null)
  const versioned = useVersionedSave<Versioned, Partial<Versioned>>({
    save: (changes, version) => changeDomain(domain.id, changes as DomainChanges, version),
    load: () => reloadDomain(domain.id)
  })
  return (
    <>
      <EditConflict
        versioned={versioned}
        title={title}
        labelOf={name => labelOf(name, t)}
        wordsOf={(name, value) => valueWords(name, value, t)}
      />
      <Section id="domain-settings" ref={title} title={t('domains.settings.heading')}>
        <InPlaceEditor
          label={t('domains.settings.edit')}
          shown={<Shown domain={domain} />}
          isLocked={versioned.conflict !== undefined}
        >
          {close => <SettingsForm domain={domain} save={versioned.change} close={close} />}
        </InPlaceEditor>
      </Section>
    </>
  )
}

function Shown({ domain }: DomainProps) {
  const { t } = useWords()
  return (
    <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[minmax(9rem,auto)_1fr]">
      {fields.map(name => (
        <div key={name} className="contents">
          <dt className="text-ink-soft">{labelOf(name, t)}</dt>
          <dd className="wrap-anywhere min-w-0">
            {valueWords(name, domain[name], t)}
            {name === 'public' && (
              <span className="block text-ink-soft text-sm">{publicNote(domain.public, t)}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface SettingsFormProps extends DomainProps {
  /** Saves changes. `was` is the domain as it was when the form was opened. */
  save: (was: DomainDetails, changes: Partial<Settings>) => Promise<void>
  close: () => void
}

function SettingsForm({ domain, save, close }: SettingsFormProps) {
  const { t } = useWords()
  // the domain may change while the form is open
  const [was] = useState(domain)
  const check = useInputCheck('updateDomain')
  const form = useForm({
    what: 'Saving the domain failed',
    rules: { name: required, title: required },
    inputErrors: values => check({ ...settingsOf(values), id: was.id }),
    codeErrors: { default_group_private: { public: { rule: 'public_category' } } },
    async send(values) {
      await save(was, settingsOf(values))
      close()
    }
  })
  const texts = (name: 'name' | 'title' | 'contact' | 'privacy' | 'terms') => ({
    label: labelOf(name, t),
    name,
    autoComplete: 'off',
    initial: was[name] ?? '',
    hint: t(`domains.settings.hints.${name}`),
    error: fieldSentence(form.errors, name, t)
  })
  return (
    <>
      <InPlaceForm
        form={form}
        submit={t('domains.settings.save')}
        className="max-w-2xl gap-6"
        cancel={t('domains.settings.cancel')}
        close={close}
      >
        <Field {...texts('name')} />
        <Field {...texts('title')} />
        <Choices
          label={labelOf('public', t)}
          name="public"
          initial={String(was.public)}
          options={[true, false].map(value => ({
            value: String(value),
            label: valueWords('public', value, t),
            note: publicNote(value, t)
          }))}
          error={fieldSentence(form.errors, 'public', t)}
        />
        <SelectField
          label={labelOf('locale', t)}
          name="locale"
          initial={was.locale}
          options={Object.entries(languages).map(([value, label]) => ({ value, label }))}
          hint={t('domains.settings.hints.locale')}
        />
        <Field {...texts('contact')} />
        <Field {...texts('privacy')} />
        <Field {...texts('terms')} />
      </InPlaceForm>
      <UnsavedGuard form={form} />
    </>
  )
}

function settingsOf(values: Values): Settings {
  const text = (name: string) => values[name]?.trim() ?? ''
  return {
    name: text('name'),
    title: text('title'),
    public: values['public'] === 'true',
    locale: values['locale'] === 'fr' ? 'fr' : 'en',
    contact: text('contact') || null,
    privacy: text('privacy') || null,
    terms: text('terms') || null
  }
}

function labelOf(name: string, t: Translate): string {
  // as: the fields of `Settings`
  return t(`domains.settings.labels.${name as keyof Settings}`)
}

function publicNote(isPublic: boolean, t: Translate): string {
  return t(isPublic ? 'domains.settings.open.note' : 'domains.settings.invited.note')
}

function valueWords(name: string, value: unknown, t: Translate): string {
  if (name === 'public')
    return t(value ? 'domains.settings.open.label' : 'domains.settings.invited.label')
  if (name === 'locale') return languages[value as Locale] // as: the type of the field
  return value ? String(value) : t('domains.settings.none')
}
