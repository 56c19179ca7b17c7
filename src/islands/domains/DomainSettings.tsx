import type { DomainDetails } from '../../contract/domains.ts'
import { required } from '../../core/input/validators.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { type Locale, localeNames, type Translate } from '../../i18n/index.ts'
import { type DomainChanges, reloadDomain, updateDomain } from '../../stores/admin/domains.ts'
import { RadioField, SelectField } from '../forms/ChoiceFields.tsx'
import { Field } from '../forms/Field.tsx'
import { SettingsSection } from '../forms/SettingsSection.tsx'
import type { FormValues } from '../forms/use-form.ts'
import { FactList } from '../kit/FactList.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface DomainProps {
  domain: DomainDetails
}

const fields = ['name', 'title', 'public', 'locale', 'contact', 'privacy', 'terms'] as const
type Settings = Pick<DomainDetails, (typeof fields)[number]>

export function DomainSettings({ domain }: DomainProps) {
  const { t } = useTranslation()
  return (
    <SettingsSection<DomainDetails>
      id="domain-settings"
      title={t('domains.settings.heading')}
      item={domain}
      call="updateDomain"
      // as: the form has the fields of `DomainChanges`
      save={(changes, version) => updateDomain(domain.id, changes as DomainChanges, version)}
      load={() => reloadDomain(domain.id)}
      what="Saving the domain failed"
      rules={{ name: required, title: required }}
      codeErrors={{ default_group_private: { public: { rule: 'public_category' } } }}
      words={key => t(`domains.settings.${key}`)}
      wordsOf={(name, value) => valueWords(name, value, t)}
      shown={<Shown domain={domain} />}
      className="max-w-2xl gap-6"
      fields={was => <SettingsFields domain={was} />}
      read={settingsOf}
    />
  )
}

function Shown({ domain }: DomainProps) {
  const { locale, t } = useTranslation()
  const facts = fields.map(name => ({
    label: fieldLabel(name, locale),
    value: valueWords(name, domain[name], t),
    note: name === 'public' ? publicNote(domain.public, t) : undefined
  }))
  return <FactList facts={facts} />
}

function SettingsFields({ domain }: DomainProps) {
  const { locale, t } = useTranslation()
  const texts = (name: 'name' | 'title' | 'contact' | 'privacy' | 'terms') => ({
    label: fieldLabel(name, locale),
    name,
    autoComplete: 'off',
    initial: domain[name] ?? '',
    hint: t(`domains.settings.hints.${name}`)
  })
  return (
    <>
      <Field {...texts('name')} />
      <Field {...texts('title')} />
      <RadioField
        label={fieldLabel('public', locale)}
        name="public"
        initial={String(domain.public)}
        options={[true, false].map(value => ({
          value: String(value),
          label: valueWords('public', value, t),
          note: publicNote(value, t)
        }))}
      />
      <SelectField
        label={fieldLabel('locale', locale)}
        name="locale"
        initial={domain.locale}
        options={Object.entries(localeNames).map(([value, label]) => ({ value, label }))}
        hint={t('domains.settings.hints.locale')}
      />
      <Field {...texts('contact')} />
      <Field {...texts('privacy')} />
      <Field {...texts('terms')} />
    </>
  )
}

function settingsOf(values: FormValues): Settings {
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

function publicNote(isPublic: boolean, t: Translate): string {
  return t(isPublic ? 'domains.settings.open.note' : 'domains.settings.invited.note')
}

function valueWords(name: string, value: unknown, t: Translate): string {
  if (name === 'public')
    return t(value ? 'domains.settings.open.label' : 'domains.settings.invited.label')
  if (name === 'locale') return localeNames[value as Locale] // as: the type of the field
  return value ? String(value) : t('domains.settings.none')
}
