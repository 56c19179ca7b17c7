import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { FieldFrame, type FieldTexts } from '../kit/Field.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface MultiValueFieldProps extends FieldTexts {
  name: string
  initial?: readonly string[]
}

/**
 * In the form, the value is a text with one line for each added value. The page must pass the
 * translations `forms` to the island.
 */
export function MultiValueField({ name, initial = [], ...texts }: MultiValueFieldProps) {
  const { t } = useTranslation()
  const [values, setValues] = useState<readonly string[]>(initial)
  const [news, setNews] = useState('')
  const store = useRef<HTMLTextAreaElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)

  // the hidden field also gets a value that is typed but not added yet
  const write = (next: readonly string[]) => {
    if (store.current)
      store.current.value = [...next, ...entriesOf(input.current?.value)].join('\n')
  }
  const change = (next: readonly string[], said: string) => {
    setValues(next)
    setNews(said)
    write(next)
    // as typing does, so that the form checks the field again
    store.current?.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const add = (text: string) => {
    const added = entriesOf(text).filter(entry => !values.includes(entry))
    if (input.current) input.current.value = ''
    if (added.length > 0)
      change([...values, ...added], t('forms.several.added', { value: added.join(', ') }))
  }
  const remove = (value: string) => {
    const at = values.indexOf(value)
    change(
      values.filter(each => each !== value),
      t('forms.several.removed', { value })
    )
    // the button that was pressed disappears
    setTimeout(() => {
      const buttons = list.current?.querySelectorAll('button') ?? []
      const next = buttons[Math.min(at, buttons.length - 1)] ?? input.current
      next?.focus()
    })
  }
  const takeKey = (event: KeyboardEvent<HTMLInputElement>) => {
    const { value } = event.currentTarget
    if ((event.key !== 'Enter' && event.key !== ',') || value.trim() === '') return
    event.preventDefault()
    add(value)
  }
  const takePaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData('text')
    if (entriesOf(pasted).length < 2) return
    event.preventDefault()
    add(pasted)
  }

  // the form fills in a draft through the hidden field, and a reset empties the field
  useEffect(() => {
    const { current } = store
    const follow = () => {
      if (current && input.current?.value === '') setValues(entriesOf(current.value))
    }
    const empty = () => setValues([])
    current?.addEventListener('input', follow)
    current?.form?.addEventListener('reset', empty)
    return () => {
      current?.removeEventListener('input', follow)
      current?.form?.removeEventListener('reset', empty)
    }
  }, [])

  return (
    <FieldFrame
      {...texts}
      control={props => (
        <>
          {values.length > 0 && (
            <ul ref={list} className="flex flex-wrap gap-2">
              {values.map(value => (
                <li key={value} className="badge badge-outline h-auto min-h-8 wrap-anywhere">
                  {value}
                  <button
                    type="button"
                    className="min-h-6 min-w-6 cursor-pointer"
                    aria-label={t('forms.several.remove', { value })}
                    onClick={() => remove(value)}
                  >
                    ×
                  </button>
                </li>
              ))}
            </ul>
          )}
          {/* no input, which would drop the line breaks */}
          <textarea ref={store} name={name} hidden defaultValue={initial.join('\n')} />
          <input
            {...props}
            ref={input}
            data-for={name}
            className={`input w-full ${texts.error ? 'border-error' : ''}`}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            onKeyDown={takeKey}
            onPaste={takePaste}
            onInput={() => write(values)}
            onBlur={event => add(event.currentTarget.value)}
          />
          <p role="status" className="sr-only">
            {news}
          </p>
        </>
      )}
    />
  )
}

// `'a@b.fr, c@d.fr'` → `['a@b.fr', 'c@d.fr']`
function entriesOf(text = ''): string[] {
  const entries = text.split(/[\n,;]/).map(entry => entry.trim())
  return [...new Set(entries)].filter(Boolean)
}
