import type { Group } from '../../contract/groups.ts'
import { fieldErrorText } from '../forms/account-form.ts'
import { CheckBoxes } from '../forms/CheckBoxes.tsx'
import type { FormState, FormValues } from '../forms/use-form.ts'
import { Field } from '../kit/Field.tsx'
import { useTranslation } from '../kit/use-translation.ts'

const features = ['deposit'] as const satisfies Group['features']

interface GroupFieldsProps {
  form: Pick<FormState, 'errors'>
  group?: Pick<Group, 'name' | 'features'>
}

export function GroupFields({ form, group }: GroupFieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <Field
        label={t('groups.name')}
        name="name"
        autoComplete="off"
        initial={group?.name}
        hint={t('groups.nameHint')}
        error={fieldErrorText(form.errors, 'name', t)}
      />
      <CheckBoxes
        label={t('groups.features')}
        name="features"
        options={features.map(value => ({ value, label: t(`groups.featureNames.${value}`) }))}
        initial={group?.features ?? features}
        error={fieldErrorText(form.errors, 'features', t)}
      />
    </>
  )
}

export function groupFromForm(values: FormValues): Pick<Group, 'name' | 'features'> {
  const chosen = (values['features'] ?? '').split('\n')
  return {
    name: (values['name'] ?? '').trim(),
    features: features.filter(feature => chosen.includes(feature))
  }
}
