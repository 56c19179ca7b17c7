import { useStore } from '@nanostores/react'
import { useState } from 'react'
import { fieldLabel } from '../../i18n/field-label.ts'
import { isLocale } from '../../i18n/index.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  findDefaultGroup,
  findMemberIdByEmail,
  inviteUser,
  type NamedGroup
} from '../../stores/admin/members.ts'
import { navigate } from '../../stores/navigation.ts'
import { $session } from '../../stores/sessions.ts'
import { EmailField } from '../forms/AccountFields.tsx'
import { emailRule } from '../forms/account-form.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { CreateForm } from '../forms/CreateForm.tsx'
import { Field } from '../forms/Field.tsx'
import { type FormValues, useForm } from '../forms/use-form.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { pageHref } from '../kit/page-href.ts'
import { showMessage } from '../kit/show-message.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { GroupPicker, parseGroupPickerValue } from './GroupPicker.tsx'

const languages = ['und', 'en', 'fr'] as const

export const CreateUser = withTranslation(function CreateUser() {
  const { locale, t } = useTranslation()
  const session = useStore($session, { ssr: 'initial' })
  // without it the server chooses the same group
  const what = 'Loading the default group failed'
  const defaultGroup = useLoaded(what, findDefaultGroup, session.status === 'in')
  const preset = defaultGroup.value
  const [taken, setTaken] = useState<string>()
  const pathTo = (id: string) => pageHref(locale, 'user', { company: companyIdOfPage(), user: id })
  const form = useForm({
    what: 'Inviting the person failed',
    rules: { email: emailRule },
    async send(values, key) {
      setTaken(undefined)
      const { id, link } = await inviteUser(inputOf(values, preset), key)
      await navigate(pathTo(id), { replace: true })
      const { email = '' } = values
      showMessage(t(link === undefined ? 'invite.done' : 'invite.doneLink', { email }))
    },
    handle(error, { email = '' }) {
      if (error.code === 'email_taken')
        findMemberIdByEmail(email.trim()).then(setTaken, () => setTaken(undefined))
      return false
    }
  })

  return (
    <CreateForm
      form={form}
      submit={t('invite.submit')}
      failure={
        form.failure?.code === 'email_taken' ? (
          <ErrorNote error={form.failure} text={t('invite.taken')}>
            {taken !== undefined && (
              <a
                className="link"
                href={pathTo(taken)}
                // the typed values are no longer needed, so the page must not ask about them
                onClick={() => form.props.ref.current?.reset()}
              >
                {t('invite.takenLink')}
              </a>
            )}
          </ErrorNote>
        ) : undefined
      }
    >
      <p className="text-ink-soft">{t('invite.intro')}</p>
      <EmailField use="email" />
      <Field
        label={t('invite.name')}
        name="username"
        autoComplete="off"
        hint={t('invite.nameHint')}
      />
      <fieldset>
        <legend className="label-text mb-1.5">{t('invite.groups')}</legend>
        <GroupPicker
          hint={t('invite.groupsHint')}
          initial={preset}
          failure={defaultGroup.failure}
          reload={defaultGroup.reload}
        />
      </fieldset>
      <SelectField
        label={fieldLabel('locale', locale)}
        name="locale"
        initial="und"
        hint={t('invite.languageHint')}
        options={languages.map(value => ({
          value,
          label: value === 'und' ? t('invite.anyLanguage') : t(`invite.languages.${value}`)
        }))}
      />
    </CreateForm>
  )
})

// for the default group alone, the server chooses it itself
function inputOf(values: FormValues, preset: NamedGroup | undefined) {
  const { email = '', username = '', locale, group_ids } = values
  const groups = parseGroupPickerValue(group_ids)
  const isPreset = preset !== undefined && groups.length === 1 && groups[0]?.id === preset.id
  const isUnknown = preset === undefined && groups.length === 0
  return {
    email: email.trim(),
    ...(username.trim() ? { username: username.trim() } : {}),
    ...(isLocale(locale) ? { locale } : {}),
    ...(isPreset || isUnknown ? {} : { group_ids: groups.map(({ id }) => id) })
  }
}
