import { type RefObject, useEffect, useEffectEvent } from 'react'

interface ChosenValuesProps {
  name: string
  initial: string
  /** The hidden field with the value of the form. */
  store: RefObject<HTMLTextAreaElement | null>
  values: readonly string[]
  removeLabel: (value: string) => string
  onRemove: (at: number) => void
  /** Runs when the stored value changes, for example by a draft, and with an empty value on reset. */
  onStored: (value: string) => void
  news: string
}

/** What is chosen in a field that takes several values, each with a button that removes it. */
export function ChosenValues(props: ChosenValuesProps) {
  const { name, initial, store, values, removeLabel, onRemove, news } = props
  const follow = useEffectEvent(props.onStored)
  useEffect(() => {
    const { current } = store
    const read = () => follow(current?.value ?? '')
    const empty = () => follow('')
    current?.addEventListener('input', read)
    current?.form?.addEventListener('reset', empty)
    return () => {
      current?.removeEventListener('input', read)
      current?.form?.removeEventListener('reset', empty)
    }
  }, [store])
  return (
    <>
      {values.length > 0 && (
        <ul className="flex flex-wrap gap-2">
          {values.map((value, at) => (
            <li key={value} className="badge badge-outline h-auto min-h-8 wrap-anywhere">
              {value}
              <button
                type="button"
                className="min-h-6 min-w-6 cursor-pointer"
                aria-label={removeLabel(value)}
                onClick={() => onRemove(at)}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {/* no input, which would drop the line breaks */}
      <textarea ref={store} name={name} hidden defaultValue={initial} />
      <p role="status" className="sr-only">
        {news}
      </p>
    </>
  )
}

/** Writes the value as typing does, so that the form checks the field again. */
export function storeChosenValue(store: HTMLTextAreaElement | null, value: string): void {
  if (!store) return
  store.value = value
  store.dispatchEvent(new Event('input', { bubbles: true }))
}
