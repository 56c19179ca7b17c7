import { useEffect, useId, useRef, useState } from 'react'
import { DisabledReason } from '../../contract/kit/disabled.ts'
import type { BulkAction } from '../../contract/members.ts'
import { findGroups } from '../../stores/admin/item-search.ts'
import type { BulkMemberChange } from '../../stores/admin/member-list.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { Combobox } from '../forms/Combobox.tsx'
import { Field } from '../forms/Field.tsx'
import { type NamedItem, toComboboxSearch } from '../forms/NamedItemPicker.tsx'
import { useTranslation } from '../kit/use-translation.ts'

type Details = Pick<BulkMemberChange, 'group' | 'reason'>

interface BulkChangeDialogProps {
  action: BulkAction
  count: number
  start: (details: Details) => void
  onClose: () => void
}

export function BulkChangeDialog({ action, count, start, onClose }: BulkChangeDialogProps) {
  const { t } = useTranslation()
  const title = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [group, setGroup] = useState<NamedItem>()
  const [fault, setFault] = useState<'group' | 'number'>()
  const needsGroup = action === 'add_to_group' || action === 'remove_from_group'

  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])

  const submit = (form: FormData) => {
    const typed = String(form.get('number') ?? '').replaceAll(/\D/g, '')
    if (needsGroup && !group) return setFault('group')
    if (action === 'delete' && typed !== String(count)) return setFault('number')
    const reason = DisabledReason.safeParse(form.get('reason')).data
    dialog.current?.close()
    start({ ...(group ? { group } : {}), ...(reason ? { reason } : {}) })
  }
  return (
    <dialog
      ref={dialog}
      className="confirm-dialog w-full overflow-visible"
      aria-labelledby={title}
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        noValidate
        onSubmit={event => {
          event.preventDefault()
          submit(new FormData(event.currentTarget))
        }}
      >
        <h2 id={title} className="section-title">
          {t(`users.bulk.questions.${action}`, { count })}
        </h2>
        <p className="text-ink-soft">{t(`users.bulk.effects.${action}`)}</p>
        {needsGroup && (
          <>
            <Combobox
              label={t('users.bulk.group')}
              hint={t('users.bulk.groupHint')}
              search={toComboboxSearch(findGroups)}
              choose={chosen => {
                setGroup(chosen)
                setFault(undefined)
              }}
            />
            <p role="status" className="wrap-anywhere">
              {group && t('users.bulk.chosen', { group: group.name })}
              {fault === 'group' && (
                <span className="text-error text-sm">{t('users.bulk.groupMissing')}</span>
              )}
            </p>
          </>
        )}
        {action === 'disable' && (
          <SelectField
            label={t('users.bulk.reason')}
            hint={t('users.bulk.reasonHint')}
            name="reason"
            options={DisabledReason.options.map(value => ({
              value,
              label: t(`users.bulk.reasons.${value}`)
            }))}
          />
        )}
        {action === 'delete' && (
          <Field
            label={t('users.bulk.number', { count })}
            name="number"
            inputMode="numeric"
            autoComplete="off"
            error={fault === 'number' ? t('users.bulk.numberWrong', { count }) : undefined}
          />
        )}
        <div className="confirm-dialog-buttons">
          <button type="button" className="btn" onClick={() => dialog.current?.close()}>
            {t('users.bulk.cancel')}
          </button>
          <button
            type="submit"
            className={`btn ${action === 'delete' ? 'btn-error' : 'btn-primary'}`}
          >
            {t(`users.bulk.begin.${action}`, { count })}
          </button>
        </div>
      </form>
    </dialog>
  )
}
