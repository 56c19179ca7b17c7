import type { ApiKeyWithSecret } from '../../contract/api-keys.ts'
import { KeyScope } from '../../contract/kit/endpoint.ts'
import { nonEmptyList, required } from '../../core/input/validators.ts'
import { createApiKey } from '../../stores/accounts/api-keys.ts'
import { fieldErrorText } from '../forms/account-form.ts'
import { CheckBoxes } from '../forms/CheckBoxes.tsx'
import { InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { parseNamedItem } from '../forms/NamedItemPicker.tsx'
import { SelectField } from '../forms/SelectField.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { Field } from '../kit/Field.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { apiKeyTranslator } from './api-key-translator.ts'
import { GroupField } from './GroupField.tsx'

const lifetimes = ['30', '90', '365'] as const

interface CreateKeyProps {
  company: string | undefined
  done: (made: ApiKeyWithSecret) => void
  close: () => void
}

export function CreateKey({ company, done, close }: CreateKeyProps) {
  const { locale, t } = useTranslation()
  const say = apiKeyTranslator(locale)
  const check = useInputCheck('createApiKey')
  const form = useForm({
    what: 'Creating the key failed',
    rules: {
      scopes: value => nonEmptyList(scopesOf(value)),
      ...(company !== undefined && { group_id: required })
    },
    inputErrors: values => check(inputOf(values)),
    async send(values) {
      const group_id = parseNamedItem(values['group_id'])?.id
      done(await createApiKey(company, { ...inputOf(values), group_id }))
      close()
    }
  })

  return (
    <InPlaceForm
      form={form}
      submit={say('create')}
      className="max-w-2xl gap-4"
      cancel={say('cancel')}
      close={close}
    >
      <Field
        label={say('name')}
        name="name"
        autoComplete="off"
        hint={say('nameHint')}
        error={fieldErrorText(form.errors, 'name', t)}
      />
      <CheckBoxes
        label={say('scopesLabel')}
        name="scopes"
        options={KeyScope.options.map(value => ({ value, label: say(`scopeChoices.${value}`) }))}
        initial={[...KeyScope.options]}
        error={fieldErrorText(form.errors, 'scopes', t)}
      />
      {company !== undefined && (
        <GroupField name="group_id" error={fieldErrorText(form.errors, 'group_id', t)} />
      )}
      <SelectField
        label={say('lifetime')}
        name="expires_in_days"
        options={lifetimes.map(value => ({ value, label: say(`lifetimes.${value}`) }))}
        initial="365"
        error={fieldErrorText(form.errors, 'expires_in_days', t)}
      />
    </InPlaceForm>
  )
}

function scopesOf(value: unknown) {
  const chosen = String(value ?? '').split('\n')
  return KeyScope.options.filter(scope => chosen.includes(scope))
}

function inputOf(values: FormValues) {
  return {
    name: (values['name'] ?? '').trim(),
    scopes: scopesOf(values['scopes']),
    expires_in_days: Number(values['expires_in_days'] ?? 365)
  }
}
