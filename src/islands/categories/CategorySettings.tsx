import type { CategoryDetails } from '../../contract/company-categories.ts'
import { acceptsPictures } from '../../core/media-types.ts'
import { formatDuration } from '../../core/text/format.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import {
  type CategoryChanges,
  reloadCategory,
  updateCategory
} from '../../stores/admin/company-categories.ts'
import { SettingsSection } from '../forms/SettingsSection.tsx'
import type { FormValues } from '../forms/use-form.ts'
import { FactList } from '../kit/FactList.tsx'
import { describeMediaTypes } from '../kit/media-words.ts'
import { useTranslation } from '../kit/use-translation.ts'
import {
  CategoryFields,
  type CategorySettingName,
  categoryNameLanguages,
  categoryNamesFromForm,
  categorySettingChoices,
  categorySettingsFromForm,
  describeSettingChoice,
  retentionRule,
  type EditableCategory as Settings
} from './CategoryFields.tsx'

interface CategoryProps {
  category: CategoryDetails
}

export function CategorySettings({ category }: CategoryProps) {
  const { locale, t } = useTranslation()
  return (
    <SettingsSection<CategoryDetails>
      id="category-settings"
      title={t('category.settings')}
      item={category}
      call="updateCategory"
      // as: the form has the fields of `CategoryChanges`
      save={(changes, version) => updateCategory(category.id, changes as CategoryChanges, version)}
      load={() => reloadCategory(category.id)}
      what="Saving the category failed"
      rules={{ retention: retentionRule }}
      codeErrors={{ default_group_private: { visibility: { rule: 'default_group' } } }}
      words={key => t(`category.${key}`)}
      wordsOf={(name, value) => valueWords(name, value, locale, t)}
      shown={<Shown category={category} />}
      className="max-w-2xl gap-6"
      fields={was => (
        <>
          <p className="text-ink-soft">{t('category.later')}</p>
          <CategoryFields category={was} />
        </>
      )}
      read={changesOf}
    />
  )
}

function Shown({ category }: CategoryProps) {
  const { locale, t } = useTranslation()
  const { names, visibility, store, keep_originals, media_types, retention } = category
  const rows = [
    ...categoryNameLanguages(locale).map(language => ({
      label: t(`categories.names.${language}`),
      value: names[language]
    })),
    ...(
      [
        ['visibility', visibility],
        ['store', store],
        ...(store === 'file' && acceptsPictures(media_types)
          ? [['keep_originals', keep_originals] as const]
          : [])
      ] as const
    ).map(([field, value]) => ({
      label: fieldLabel(field, locale),
      value: valueWords(field, value, locale, t),
      note: describeSettingChoice(field, value, t).note
    })),
    {
      label: fieldLabel('media_types', locale),
      value: valueWords('media_types', media_types, locale, t),
      note: media_types ? t('categories.media_types.note') : undefined
    },
    ...(store === 'file'
      ? [
          {
            label: fieldLabel('retention', locale),
            value: valueWords('retention', retention, locale, t),
            note: retention ? t('categories.retention.note') : undefined
          }
        ]
      : []),
    {
      label: fieldLabel('default', locale),
      value: valueWords('default', category.default, locale, t),
      note: category.default ? t('categories.default.used') : undefined
    }
  ]
  return <FactList facts={rows} />
}

// an empty name, and what the form hides, keep their previous value
function changesOf(values: FormValues, was: CategoryDetails): Settings {
  const { en = was.names.en, fr = was.names.fr } = categoryNamesFromForm(values)
  const originals = categorySettingChoices.keep_originals.find(
    each => each === values['keep_originals']
  )
  const read = categorySettingsFromForm(values)
  const isFile = read.store === 'file'
  return {
    ...read,
    names: { en, fr },
    keep_originals: isFile && originals ? originals : was.keep_originals,
    retention: isFile ? read.retention : was.retention,
    default: values['default'] === 'yes'
  }
}

function valueWords(name: string, value: unknown, locale: Locale, t: Translate): string {
  // as: the fields of `EditableCategory`
  switch (name as keyof Settings) {
    case 'names': {
      const names = value as Settings['names']
      return categoryNameLanguages(locale)
        .map(language => names[language])
        .join(' / ')
    }
    case 'media_types':
      return value
        ? describeMediaTypes(value as string[], locale, t)
        : t('categories.media_types.all')
    case 'retention':
      return value ? formatDuration(String(value), locale) : t('categories.retention.none')
    case 'default':
      return t(value ? 'categories.default.yes' : 'categories.default.no')
    default:
      return describeSettingChoice(name as CategorySettingName, String(value), t).label
  }
}
