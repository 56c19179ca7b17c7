import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { createGroup } from '../../stores/admin/groups.ts'
import { navigate } from '../../stores/navigation.ts'
import { CreateForm } from '../forms/CreateForm.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { LimitFields, limitsFromForm, useLimitChecks } from '../limits/LimitFields.tsx'
import { GroupFields, groupFromForm } from './GroupFields.tsx'

const unlimited = { max_requests: null, max_requests_interval: null, max_storage: null }

export const CreateGroup = withTranslation(function CreateGroup() {
  const { locale, t } = useTranslation()
  const check = useInputCheck('createGroup')
  const inputOf = (values: FormValues) => ({
    ...groupFromForm(values),
    ...limitsFromForm(values, locale)
  })
  const limits = useLimitChecks()
  const form = useForm({
    ...limits,
    what: 'Creating the group failed',
    inputErrors: values => ({ ...check(inputOf(values)), ...limits.inputErrors(values) }),
    codeErrors: { name_taken: { name: { rule: 'taken' } } },
    async send(values, key) {
      const { id } = await createGroup(inputOf(values), key)
      await navigate(pageHref(locale, 'group', { company: companyIdOfPage(), group: id }), {
        replace: true
      })
    }
  })
  return (
    <CreateForm form={form} submit={t('groups.create')}>
      <GroupFields />
      <fieldset>
        <legend className="section-title mb-2">{t('groups.limits')}</legend>
        <p className="mb-4 text-ink-soft">{t('groups.limitsNote')}</p>
        <LimitFields limits={unlimited} usage={undefined} />
      </fieldset>
    </CreateForm>
  )
})
