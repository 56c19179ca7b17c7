import { type ReactNode, useState } from 'react'
import { Combobox } from './Combobox.tsx'
import { useFieldError } from './Field.tsx'

export interface NamedItem {
  id: string
  name: string
}

interface NamedItemPickerProps {
  /** Label of the whole field. `label` is that of the search. */
  legend: string
  /** `parseNamedItem()` parses the value, the id and the name of the chosen item. */
  name: string
  label: string
  hint: string
  error?: string | undefined
  preset?: NamedItem | undefined
  find: (text: string) => Promise<readonly NamedItem[]>
  /** Content above the search until an item is chosen. */
  children?: ReactNode
}

export function NamedItemPicker(props: NamedItemPickerProps) {
  const { legend, name, label, hint, preset, find, children } = props
  const [chosen, setChosen] = useState<NamedItem>()
  const item = chosen ?? preset
  const error = useFieldError(name, props.error)
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="label-text mb-1.5">{legend}</legend>
      <p role="status" className="wrap-anywhere font-semibold empty:hidden">
        {item?.name}
      </p>
      {!item && children}
      <Combobox
        {...{ label, hint, error, name }}
        // with the item's name, which a draft has to show again
        value={item ? `${item.id} ${item.name}` : ''}
        restore={value => setChosen(parseNamedItem(value))}
        search={toComboboxSearch(find)}
        choose={setChosen}
      />
    </fieldset>
  )
}

export function parseNamedItem(value = ''): NamedItem | undefined {
  const at = value.indexOf(' ')
  return at < 0 ? undefined : { id: value.slice(0, at), name: value.slice(at + 1) }
}

/** Turns `find` into the property `search` of a `Combobox`. */
export function toComboboxSearch(find: (text: string) => Promise<readonly NamedItem[]>) {
  return async (text: string) => {
    const found = await find(text)
    return found.map(({ id, name }) => ({ item: { id, name }, id, label: name }))
  }
}
