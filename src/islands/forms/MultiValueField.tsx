import { type ClipboardEvent, type KeyboardEvent, useRef, useState } from 'react'
import { FieldFrame, type FieldTexts } from '../kit/FieldFrame.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { ChosenValues, storeChosenValue } from './ChosenValues.tsx'
import { useFieldError } from './Field.tsx'

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
  const error = useFieldError(name, texts.error)
  const [values, setValues] = useState<readonly string[]>(initial)
  const [news, setNews] = useState('')
  const store = useRef<HTMLTextAreaElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const box = useRef<HTMLDivElement>(null)

  // with a value that is typed but not added yet
  const linesOf = (next: readonly string[]) =>
    [...next, ...entriesOf(input.current?.value)].join('\n')
  const change = (next: readonly string[], said: string) => {
    setValues(next)
    setNews(said)
    storeChosenValue(store.current, linesOf(next))
  }
  const add = (text: string) => {
    const added = entriesOf(text).filter(entry => !values.includes(entry))
    if (input.current) input.current.value = ''
    if (added.length > 0)
      change([...values, ...added], t('forms.several.added', { value: added.join(', ') }))
  }
  const remove = (at: number) => {
    change(values.toSpliced(at, 1), t('forms.several.removed', { value: values[at] ?? '' }))
    // the button that was pressed disappears
    setTimeout(() => {
      const buttons = box.current?.querySelectorAll<HTMLElement>('li button') ?? []
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

  return (
    <FieldFrame
      {...texts}
      error={error}
      control={props => (
        <div ref={box} className="contents">
          <ChosenValues
            {...{ name, store, values, news }}
            initial={initial.join('\n')}
            removeLabel={value => t('forms.several.remove', { value })}
            onRemove={remove}
            onStored={value => {
              if (value === '' || input.current?.value === '') setValues(entriesOf(value))
            }}
          />
          <input
            {...props}
            ref={input}
            data-for={name}
            className={`input w-full ${error ? 'border-error' : ''}`}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            onKeyDown={takeKey}
            onPaste={takePaste}
            onInput={() => {
              if (store.current) store.current.value = linesOf(values)
            }}
            onBlur={event => add(event.currentTarget.value)}
          />
        </div>
      )}
    />
  )
}

// `'a@b.fr, c@d.fr'` → `['a@b.fr', 'c@d.fr']`
function entriesOf(text = ''): string[] {
  const entries = text.split(/[\n,;]/).map(entry => entry.trim())
  return [...new Set(entries)].filter(Boolean)
}
