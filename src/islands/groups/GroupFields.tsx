import type { Group } from '../../contract/groups.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { CheckBoxes } from '../forms/ChoiceFields.tsx'
import { Field } from '../forms/Field.tsx'
import type { FormValues } from '../forms/use-form.ts'
import { useTranslation } from '../kit/use-translation.ts'

const features = ['deposit'] as const satisfies Group['features']

interface GroupFieldsProps {
  group?: Pick<Group, 'name' | 'features'>
}

export function GroupFields({ group }: GroupFieldsProps) {
  const { locale, t } = useTranslation()
  return (
    <>
      <Field
        label={fieldLabel('name', locale)}
        name="name"
        autoComplete="off"
        initial={group?.name}
        hint={t('groups.nameHint')}
      />
      <CheckBoxes
        label={fieldLabel('features', locale)}
        name="features"
        options={features.map(value => ({ value, label: t(`groups.featureNames.${value}`) }))}
        initial={group?.features ?? features}
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
