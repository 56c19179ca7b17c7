import { required } from '../../core/input/validators.ts'
import type { Locale } from '../../i18n/index.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { createCategory } from '../../stores/admin/company-categories.ts'
import { navigate } from '../../stores/navigation.ts'
import { CreateForm } from '../forms/CreateForm.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import {
  CategoryFields,
  categoryNameLanguages,
  categoryNamesFromForm,
  categorySettingsFromForm,
  retentionRule
} from './CategoryFields.tsx'

export const CreateCategory = withTranslation(function CreateCategory() {
  const { locale, t } = useTranslation()
  const check = useInputCheck('createCategory')
  const form = useForm({
    what: 'Creating the category failed',
    rules: { [`names.${locale}`]: required, retention: retentionRule },
    inputErrors(values) {
      const errors = check(inputOf(values, locale))
      const [, other = locale] = categoryNameLanguages(locale)
      // an empty name is a copy, so only the name that is copied can be wrong
      if (categoryNamesFromForm(values)[other] === undefined) delete errors[`names.${other}`]
      return errors
    },
    codeErrors: { name_taken: { [`names.${locale}`]: { rule: 'taken' } } },
    async send(values, key) {
      const { id } = await createCategory(inputOf(values, locale), key)
      await navigate(pageHref(locale, 'category', { company: companyIdOfPage(), category: id }), {
        replace: true
      })
    }
  })
  return (
    <CreateForm form={form} submit={t('categories.create')}>
      <CategoryFields />
    </CreateForm>
  )
})

// an empty name is a copy of the name in the language of the page
function inputOf(values: FormValues, locale: Locale) {
  const names = categoryNamesFromForm(values)
  const own = names[locale] ?? ''
  const { en = own, fr = own } = names
  const settings = categorySettingsFromForm(values)
  // the form hides the field when only fingerprints are stored
  const retention = settings.store === 'file' ? settings.retention : null
  return { ...settings, retention, names: { en, fr } }
}
