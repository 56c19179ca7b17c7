import { useEffect, useRef, useState } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { findGroups } from '../../stores/admin/item-search.ts'
import type { NamedGroup } from '../../stores/admin/members.ts'
import { ChosenValues, storeChosenValue } from '../forms/ChosenValues.tsx'
import { Combobox } from '../forms/Combobox.tsx'
import { parseNamedItem, toComboboxSearch } from '../forms/NamedItemPicker.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { runThenFocus } from '../kit/run-then-focus.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface GroupPickerProps {
  hint?: string
  except?: readonly string[]
  /** Undefined also while it is being loaded. */
  initial?: NamedGroup | undefined
  failure?: AppError | undefined
  reload?: () => unknown
}

export function GroupPicker(props: GroupPickerProps) {
  const { hint, except = [], initial, failure, reload } = props
  const { t } = useTranslation()
  const [chosen, setChosen] = useState<readonly NamedGroup[]>([])
  const [news, setNews] = useState('')
  const store = useRef<HTMLTextAreaElement>(null)
  const box = useRef<HTMLDivElement>(null)

  const change = (next: readonly NamedGroup[], said: string) => {
    setNews(said)
    storeChosenValue(store.current, linesOf(next))
  }
  const drop = (at: number) => {
    const group = chosen[at]?.name ?? ''
    change(chosen.toSpliced(at, 1), t('invite.picker.dropped', { group }))
    // the button that was pressed is gone
    setTimeout(() => box.current?.querySelector('input')?.focus())
  }
  const search = async (text: string) => {
    const taken = new Set([...except, ...chosen.map(({ id }) => id)])
    const found = await toComboboxSearch(findGroups)(text)
    return found.filter(({ id }) => !taken.has(id))
  }

  const preset = initial ? linesOf([initial]) : ''
  useEffect(() => {
    // what the person has chosen meanwhile stays
    if (preset && store.current?.value === preset) setChosen(parseGroupPickerValue(preset))
  }, [preset])

  return (
    <div ref={box} className="flex flex-col gap-3">
      {failure && reload && chosen.length === 0 && (
        <ErrorNote error={failure} retry={() => runThenFocus(box.current, reload)} />
      )}
      <ChosenValues
        {...{ store, news }}
        name="group_ids"
        initial={preset}
        values={chosen.map(group => group.name)}
        removeLabel={group => t('invite.picker.drop', { group })}
        onRemove={drop}
        onStored={value => setChosen(parseGroupPickerValue(value))}
      />
      <Combobox
        label={t('invite.picker.pick')}
        hint={hint ?? t('invite.picker.pickHint')}
        search={search}
        choose={group =>
          change([...chosen, group], t('invite.picker.picked', { group: group.name }))
        }
      />
    </div>
  )
}

/** Parses the value, which has the id and the name of a group in each line. */
export function parseGroupPickerValue(value = ''): NamedGroup[] {
  return value.split('\n').flatMap(line => parseNamedItem(line) ?? [])
}

function linesOf(groups: readonly NamedGroup[]): string {
  return groups.map(({ id, name }) => `${id} ${name}`).join('\n')
}
