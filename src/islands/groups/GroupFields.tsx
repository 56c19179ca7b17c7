import type { Group } from '../../contract/groups.ts'
import { CheckBoxes } from '../forms/ChoiceFields.tsx'
import { Field } from '../forms/Field.tsx'
import type { FormValues } from '../forms/use-form.ts'
import { useTranslation } from '../kit/use-translation.ts'

const features = ['deposit'] as const satisfies Group['features']

interface GroupFieldsProps {
  group?: Pick<Group, 'name' | 'features'>
}

export function GroupFields({ group }: GroupFieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <Field
        label={t('groups.name')}
        name="name"
        autoComplete="off"
        initial={group?.name}
        hint={t('groups.nameHint')}
      />
      <CheckBoxes
        label={t('groups.features')}
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
