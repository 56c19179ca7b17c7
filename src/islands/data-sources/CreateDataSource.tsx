import { required } from '../../core/input/validators.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { createDataSource } from '../../stores/admin/data-sources.ts'
import { navigate } from '../../stores/navigation.ts'
import { CreateForm } from '../forms/CreateForm.tsx'
import { Field } from '../forms/Field.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { pageHref } from '../kit/page-href.ts'
import { showMessage } from '../kit/show-message.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'

export const CreateDataSource = withTranslation(function CreateDataSource() {
  const { locale, t } = useTranslation()
  const check = useInputCheck('createDataSource')
  const form = useForm({
    what: 'Creating the data source failed',
    rules: { name: required },
    inputErrors: values => check(inputOf(values)),
    codeErrors: { name_taken: { name: { rule: 'taken' } } },
    async send(values, key) {
      const { id, name } = await createDataSource(inputOf(values), key)
      await navigate(
        pageHref(locale, 'dataSource', { company: companyIdOfPage(), data_source: id }),
        { replace: true }
      )
      showMessage(t('dataSources.create.done', { name }))
    }
  })
  return (
    <CreateForm form={form} submit={t('dataSources.create.submit')}>
      <p className="max-w-prose text-ink-soft">{t('dataSources.create.text')}</p>
      <Field
        label={fieldLabel('name', locale)}
        name="name"
        autoComplete="off"
        hint={t('dataSources.nameHint')}
      />
    </CreateForm>
  )
})

function inputOf(values: FormValues) {
  return { name: (values['name'] ?? '').trim() }
}
