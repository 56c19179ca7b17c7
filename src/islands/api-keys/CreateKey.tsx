import { useRef } from 'react'
import type { ApiKeyWithSecret } from '../../contract/api-keys.ts'
import { KeyScope } from '../../contract/kit/endpoint.ts'
import { nonEmptyList, required } from '../../core/input/validators.ts'
import en from '../../i18n/en/keys.json'
import fr from '../../i18n/fr/keys.json'
import { type Locale, type Messages, type Translate, translator } from '../../i18n/index.ts'
import type { NamespaceKey } from '../../i18n/keys.ts'
import { createApiKey } from '../../stores/accounts/api-keys.ts'
import { findGroups } from '../../stores/admin/item-search.ts'
import { findDefaultGroup } from '../../stores/admin/members.ts'
import { CheckBoxes, SelectField } from '../forms/ChoiceFields.tsx'
import { Field } from '../forms/Field.tsx'
import { InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { NamedItemPicker, parseNamedItem } from '../forms/NamedItemPicker.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { runThenFocus } from '../kit/run-then-focus.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useTranslation } from '../kit/use-translation.ts'

const lifetimes = ['30', '90', '365'] as const

interface CreateKeyProps {
  company: string | undefined
  done: (made: ApiKeyWithSecret) => void
  close: () => void
}

export function CreateKey({ company, done, close }: CreateKeyProps) {
  const { locale } = useTranslation()
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
      <Field label={say('name')} name="name" autoComplete="off" hint={say('nameHint')} />
      <CheckBoxes
        label={say('scopesLabel')}
        name="scopes"
        options={KeyScope.options.map(value => ({ value, label: say(`scopeChoices.${value}`) }))}
        initial={[...KeyScope.options]}
      />
      {company !== undefined && <GroupField />}
      <SelectField
        label={say('lifetime')}
        name="expires_in_days"
        options={lifetimes.map(value => ({ value, label: say(`lifetimes.${value}`) }))}
        initial="365"
      />
    </InPlaceForm>
  )
}

function GroupField() {
  const { locale } = useTranslation()
  const say = apiKeyTranslator(locale)
  const preset = useLoaded('Loading the default group failed', findDefaultGroup)
  const box = useRef<HTMLDivElement>(null)
  return (
    <div ref={box}>
      <NamedItemPicker
        legend={say('group')}
        label={say('findGroup')}
        hint={say('groupHint')}
        name="group_id"
        preset={preset.value}
        find={findGroups}
      >
        {preset.failure && (
          <ErrorNote
            error={preset.failure}
            retry={() => runThenFocus(box.current, preset.reload)}
          />
        )}
      </NamedItemPicker>
    </div>
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

const catalogs: Record<Locale, Messages> = { en, fr }

// the texts are part of the script and not of the HTML, because few people see them
export function apiKeyTranslator(locale: Locale): Translate<NamespaceKey<'keys'>> {
  return translator(locale, catalogs[locale])
}
