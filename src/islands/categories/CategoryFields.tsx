import type { CategoryDetails } from '../../contract/company-categories.ts'
import { firstFaultOf, integer, matches, type Validator } from '../../core/input/validators.ts'
import {
  acceptsPictures,
  mediaKindNames,
  mediaTypesByKind,
  separateCompleteMediaKinds
} from '../../core/media-types.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import type { MessageKey } from '../../i18n/keys.ts'
import { CheckBoxes, RadioField, SelectField } from '../forms/ChoiceFields.tsx'
import { Field } from '../forms/Field.tsx'
import { MultiValueField } from '../forms/MultiValueField.tsx'
import type { FormValues } from '../forms/use-form.ts'
import { useTranslation } from '../kit/use-translation.ts'

export type EditableCategory = Pick<
  CategoryDetails,
  'names' | 'visibility' | 'store' | 'keep_originals' | 'media_types' | 'retention' | 'default'
>

export const categorySettingChoices = {
  visibility: ['public', 'private', 'receipt_only'],
  store: ['file', 'fingerprint'],
  keep_originals: ['person', 'no', 'yes']
} as const satisfies { [Name in keyof EditableCategory]?: readonly EditableCategory[Name][] }
export type CategorySettingName = keyof typeof categorySettingChoices

// hidden while the person has chosen to store only fingerprints
const forFilesOnly = 'group-has-[[value=fingerprint]:checked]/category:hidden'

// hidden while the category accepts no pictures
const forPicturesOnly =
  'group-[:has([name=kinds]:checked):not(:has([value=pictures]:checked))]/category:hidden'

const units = ['Y', 'M', 'D'] as const

interface CategoryFieldsProps {
  /** Undefined for a new category, whose form leaves out settings that are seldom needed. */
  category?: EditableCategory
}

export function CategoryFields({ category }: CategoryFieldsProps) {
  const { locale, t } = useTranslation()
  const { kinds, others } = separateCompleteMediaKinds(category?.media_types ?? [])
  const [, count = '', unit = 'Y'] = /^P(\d+)([DMY])$/.exec(category?.retention ?? '') ?? []
  const optionsOf = (name: CategorySettingName) =>
    categorySettingChoices[name].map(value => ({ value, ...describeSettingChoice(name, value, t) }))
  return (
    <div className="group/category contents">
      {categoryNameLanguages(locale).map((language, at) => (
        <Field
          key={language}
          label={t(`categories.names.${language}`)}
          name={`names.${language}`}
          autoComplete="off"
          initial={category?.names[language]}
          hint={
            at === 1 ? t(category ? 'categories.names.kept' : 'categories.names.same') : undefined
          }
        />
      ))}
      <RadioField
        label={fieldLabel('visibility', locale)}
        name="visibility"
        options={optionsOf('visibility').map(option => ({
          ...option,
          // nobody could verify the documents before the verify page takes receipts
          isDisabled: option.value === 'receipt_only' && category?.visibility !== 'receipt_only'
        }))}
        initial={category?.visibility ?? 'public'}
      />
      <RadioField
        label={fieldLabel('store', locale)}
        name="store"
        options={optionsOf('store')}
        initial={category?.store ?? 'file'}
      />
      {category && (
        <div
          className={`${forFilesOnly} ${acceptsPictures(others) && others.length > 0 ? '' : forPicturesOnly}`}
        >
          <RadioField
            label={fieldLabel('keep_originals', locale)}
            name="keep_originals"
            options={optionsOf('keep_originals')}
            initial={category.keep_originals}
          />
        </div>
      )}
      <div className="flex flex-col gap-3">
        <CheckBoxes
          label={fieldLabel('media_types', locale)}
          name="kinds"
          options={mediaKindNames.map(kind => ({
            value: kind,
            label: capitalised(t(`common.mediaKinds.${kind}`), locale)
          }))}
          initial={kinds}
          hint={t('categories.media_types.hint')}
        />
        {category && (
          <MultiValueField
            label={t('categories.media_types.others')}
            name="media_types"
            initial={others}
            hint={t('categories.media_types.othersHint')}
          />
        )}
      </div>
      <fieldset className={`flex flex-col gap-1.5 ${forFilesOnly}`}>
        <legend className="label-text mb-1.5">{fieldLabel('retention', locale)}</legend>
        <p className="text-ink-soft text-sm">{t('categories.retention.note')}</p>
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label={t('categories.retention.count')}
            name="retention"
            inputMode="numeric"
            autoComplete="off"
            initial={count}
            hint={t('categories.retention.hint')}
          />
          <SelectField
            label={t('categories.retention.unit')}
            name="retention_unit"
            initial={unit}
            options={units.map(value => ({
              value,
              label: t(`categories.retention.units.${value}`)
            }))}
          />
        </div>
      </fieldset>
      {category && (
        <CheckBoxes
          label={fieldLabel('default', locale)}
          name="default"
          options={[{ value: 'yes', label: t('categories.default.option') }]}
          initial={category.default ? ['yes'] : []}
          hint={t('categories.default.note')}
        />
      )}
    </div>
  )
}

export function categorySettingsFromForm(values: FormValues) {
  const kinds = (values['kinds'] ?? '').split('\n')
  const types = [
    ...mediaKindNames.flatMap(kind => (kinds.includes(kind) ? mediaTypesByKind[kind] : [])),
    ...(values['media_types'] ?? '').toLowerCase().split('\n').filter(Boolean)
  ]
  const retention = values['retention']?.trim()
  return {
    visibility:
      categorySettingChoices.visibility.find(each => each === values['visibility']) ?? 'public',
    store: categorySettingChoices.store.find(each => each === values['store']) ?? 'file',
    media_types: types.length > 0 ? types : null,
    retention: retention ? `P${retention}${values['retention_unit']}` : null
  }
}

export function categoryNamesFromForm(values: FormValues): {
  en: string | undefined
  fr: string | undefined
} {
  const nameIn = (locale: Locale) => values[`names.${locale}`]?.trim() || undefined
  return { en: nameIn('en'), fr: nameIn('fr') }
}

// the form hides the field when only fingerprints are stored
export const retentionRule: Validator = (value, form) => {
  if (form?.['store'] === 'fingerprint') return undefined
  return isDuration(String(value ?? '').trim())
}

const isDuration = firstFaultOf(integer, matches(/^[1-9]\d{0,2}$/, 'duration'))

export function describeSettingChoice(
  name: CategorySettingName,
  value: string,
  t: Translate
): { label: string; note: string } {
  // as: every choice of the list above has these words
  const word = (end: 'label' | 'note') => t(`categories.${name}.${value}.${end}` as MessageKey)
  return { label: word('label'), note: word('note') }
}

export function categoryNameLanguages(locale: Locale): Locale[] {
  return locale === 'fr' ? ['fr', 'en'] : ['en', 'fr']
}

function capitalised(text: string, locale: Locale): string {
  return text.slice(0, 1).toLocaleUpperCase(locale) + text.slice(1)
}
