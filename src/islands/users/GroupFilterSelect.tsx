import { useEffect, useState } from 'react'
import { fetchGroupName } from '../../stores/admin/group-list.ts'
import { findGroups } from '../../stores/admin/item-search.ts'
import { Combobox } from '../forms/Combobox.tsx'
import { type NamedItem, toComboboxSearch } from '../forms/NamedItemPicker.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { Popup } from '../lists/Popup.tsx'

interface GroupFilterSelectProps {
  value: string | undefined
  onChoose: (value: string | undefined) => void
}

export function GroupFilterSelect({ value, onChoose }: GroupFilterSelectProps) {
  const { t } = useTranslation()
  const [known, setKnown] = useState<NamedItem>()
  useEffect(() => {
    if (value === undefined || value === known?.id) return
    let isStale = false
    void fetchGroupName(value).then(name => {
      if (!isStale && name !== undefined) setKnown({ id: value, name })
    })
    return () => {
      isStale = true
    }
  }, [value, known?.id])
  const name = value === known?.id ? known?.name : undefined
  return (
    <Popup
      button={
        <>
          {t('users.list.group')}
          <span className="chip-value max-w-48 truncate">
            {value === undefined ? t('lists.filters.any') : (name ?? t('users.list.unknownGroup'))}
          </span>
          <Icon name="chevron" className="size-4 rotate-90" />
        </>
      }
      className="chip"
      hasChosenValue={value !== undefined}
      label={t('users.list.group')}
    >
      {close => (
        <div className="flex w-72 max-w-full flex-col gap-2 p-2">
          <Combobox
            label={t('users.list.findGroup')}
            search={toComboboxSearch(findGroups)}
            choose={group => {
              setKnown(group)
              onChoose(group.id)
              close()
            }}
          />
          {value !== undefined && (
            <button
              type="button"
              className="btn btn-outline btn-sm self-start"
              onClick={() => {
                onChoose(undefined)
                close()
              }}
            >
              {t('users.list.anyGroup')}
            </button>
          )}
        </div>
      )}
    </Popup>
  )
}
