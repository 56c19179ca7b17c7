import { useStore } from '@nanostores/react'
import { useId, useState } from 'react'
import { isLocale, localeNames, locales } from '../../i18n/index.ts'
import { findGroups } from '../../stores/admin/item-search.ts'
import { $userImportOptions } from '../../stores/imports/user-imports.ts'
import { useHasMailServer } from '../details/use-has-mail-server.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { Combobox } from '../forms/Combobox.tsx'
import { toComboboxSearch } from '../forms/NamedItemPicker.tsx'
import { runKeepingFocus } from '../kit/keep-focus.ts'
import { useTranslation } from '../kit/use-translation.ts'

export function UserImportOptionsForm() {
  const { t } = useTranslation()
  const id = useId()
  const options = useStore($userImportOptions, { ssr: 'initial' })
  const [news, setNews] = useState('')
  const hasMailServer = useHasMailServer()
  const { groups, locale, sendsInvitations } = options

  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="flex flex-col gap-2" tabIndex={-1}>
        <Combobox
          label={t('imports.users.options.groups')}
          hint={t('imports.users.options.groupsHint')}
          search={toComboboxSearch(findGroups)}
          choose={chosen => {
            const others = groups.filter(group => group.id !== chosen.id)
            $userImportOptions.set({ ...options, groups: [...others, chosen] })
            setNews(t('imports.users.options.groupAdded', { group: chosen.name }))
          }}
        />
        <p role="status" className="sr-only">
          {news}
        </p>
        <ul className="flex flex-wrap gap-2 empty:hidden">
          {groups.map(group => (
            <li key={group.id}>
              <button
                type="button"
                className="btn btn-outline btn-sm wrap-anywhere"
                aria-label={t('imports.users.options.removeGroup', { group: group.name })}
                onClick={event =>
                  runKeepingFocus(event, () =>
                    $userImportOptions.set({
                      ...options,
                      groups: groups.filter(each => each.id !== group.id)
                    })
                  )
                }
              >
                {group.name} <span aria-hidden="true">×</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
      <div className="flex flex-col gap-4">
        <SelectField
          label={t('imports.users.options.locale')}
          hint={t('imports.users.options.localeHint')}
          value={locale ?? ''}
          onChange={value =>
            $userImportOptions.set({ ...options, locale: isLocale(value) ? value : undefined })
          }
          options={[
            { value: '', label: t('imports.users.options.localeNone') },
            ...locales.map(value => ({ value, label: localeNames[value] }))
          ]}
        />
        {!hasMailServer && (
          <p className="alert alert-warning alert-outline text-base-content">
            {t('imports.users.options.unmailed')}
          </p>
        )}
        <fieldset className="flex flex-col gap-1" hidden={!hasMailServer}>
          <legend className="label-text mb-1.5">{t('imports.users.options.invitations')}</legend>
          {([true, false] as const).map(isNow => (
            <label key={String(isNow)} className="flex min-h-8 items-center gap-3">
              <input
                type="radio"
                className="radio"
                name={`${id}-invitations`}
                checked={sendsInvitations === isNow}
                onChange={() => $userImportOptions.set({ ...options, sendsInvitations: isNow })}
              />
              {t(isNow ? 'imports.users.options.now' : 'imports.users.options.later')}
            </label>
          ))}
        </fieldset>
      </div>
    </div>
  )
}
