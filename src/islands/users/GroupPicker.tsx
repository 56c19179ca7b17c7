import { useEffect, useRef, useState } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { findGroups } from '../../stores/admin/item-search.ts'
import type { NamedGroup } from '../../stores/admin/members.ts'
import { Combobox } from '../forms/Combobox.tsx'
import { parseNamedItem, toComboboxSearch } from '../forms/NamedItemPicker.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { runThenFocus } from '../kit/run-then-focus.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface GroupPickerProps {
  name: string
  hint?: string
  except?: readonly string[]
  /** Undefined also while it is being loaded. */
  initial?: NamedGroup | undefined
  failure?: AppError | undefined
  reload?: () => unknown
}

export function GroupPicker(props: GroupPickerProps) {
  const { name, hint, except = [], initial, failure, reload } = props
  const { t } = useTranslation()
  const [chosen, setChosen] = useState<readonly NamedGroup[]>([])
  const [news, setNews] = useState('')
  const store = useRef<HTMLTextAreaElement>(null)
  const box = useRef<HTMLDivElement>(null)

  const change = (next: readonly NamedGroup[], said: string) => {
    setNews(said)
    if (!store.current) return
    store.current.value = linesOf(next)
    // as typing does, so that the form checks the field again
    store.current.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const drop = (group: NamedGroup) => {
    change(
      chosen.filter(({ id }) => id !== group.id),
      t('invite.picker.dropped', { group: group.name })
    )
    // the button that was pressed is gone
    setTimeout(() => box.current?.querySelector('input')?.focus())
  }
  const search = async (text: string) => {
    const taken = new Set([...except, ...chosen.map(({ id }) => id)])
    const found = await toComboboxSearch(findGroups)(text)
    return found.filter(({ id }) => !taken.has(id))
  }

  // this component and a draft write into the hidden field, and a reset empties the field
  useEffect(() => {
    const { current } = store
    const follow = () => setChosen(parseGroupPickerValue(current?.value))
    const empty = () => setChosen([])
    current?.addEventListener('input', follow)
    current?.form?.addEventListener('reset', empty)
    return () => {
      current?.removeEventListener('input', follow)
      current?.form?.removeEventListener('reset', empty)
    }
  }, [])
  const preset = initial ? linesOf([initial]) : ''
  useEffect(() => {
    // what the person has chosen meanwhile stays
    if (preset && store.current?.value === preset) setChosen(parseGroupPickerValue(preset))
  }, [preset])

  return (
    <div ref={box} className="flex flex-col gap-3">
      {chosen.length > 0 && (
        <ul className="flex flex-wrap gap-2">
          {chosen.map(group => (
            <li key={group.id} className="badge badge-outline h-auto min-h-8 wrap-anywhere">
              {group.name}
              <button
                type="button"
                className="min-h-6 min-w-6 cursor-pointer"
                aria-label={t('invite.picker.drop', { group: group.name })}
                onClick={() => drop(group)}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {failure && reload && chosen.length === 0 && (
        <ErrorNote error={failure} retry={() => runThenFocus(box.current, reload)} />
      )}
      {/* no input, which would drop the line breaks */}
      <textarea ref={store} name={name} defaultValue={preset} hidden />
      <Combobox
        label={t('invite.picker.pick')}
        hint={hint ?? t('invite.picker.pickHint')}
        search={search}
        choose={group =>
          change([...chosen, group], t('invite.picker.picked', { group: group.name }))
        }
      />
      <p role="status" className="sr-only">
        {news}
      </p>
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
