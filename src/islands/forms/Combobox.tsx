import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { asAppError } from '../../contract/kit/errors.ts'
import { FieldFrame, type FieldTexts } from '../kit/FieldFrame.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface ComboboxChoice<Item> {
  item: Item
  id: string
  label: string
  note?: string
}

interface ComboboxProps<Item> extends FieldTexts {
  /** Name of the hidden input that contains `value`, which the form reads and checks. */
  name?: string
  value?: string
  /** Runs when the form writes a value into the hidden input, for example from a draft. */
  restore?: (value: string) => void
  /** Returns the first choices for an empty text. */
  search: (text: string) => Promise<ComboboxChoice<Item>[]>
  choose: (item: Item) => void
  isBusy?: boolean
}

const pauseMs = 200

/** The page must pass the translations `forms` to the island. */
export function Combobox<Item>(props: ComboboxProps<Item>) {
  const { label, hint, error, name, value = '', restore, search, choose, isBusy = false } = props
  const { t } = useTranslation()
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const store = useRef<HTMLInputElement>(null)
  const announced = useRef(value)
  const [text, setText] = useState('')
  const [found, setFound] = useState<readonly ComboboxChoice<Item>[]>()
  const [failure, setFailure] = useState<string>()
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(0)
  const find = useEffectEvent(search)

  useEffect(() => {
    if (!isOpen) return
    const query = text.trim()
    setFailure(undefined)
    let isStale = false
    const timer = setTimeout(async () => {
      try {
        const choices = await find(query)
        if (isStale) return
        setFound(choices)
        setActive(0)
      } catch (cause) {
        if (!isStale) setFailure(asAppError(cause, 'Searching failed').code)
      }
    }, pauseMs)
    return () => {
      isStale = true
      clearTimeout(timer)
    }
  }, [text, isOpen])

  useEffect(() => {
    if (announced.current === value) return
    announced.current = value
    // as typing does, so that the form checks the value again
    store.current?.dispatchEvent(new Event('input', { bubbles: true }))
  }, [value])

  const choices = (isOpen && found) || []
  const pick = (choice: ComboboxChoice<Item> | undefined) => {
    if (!choice || isBusy) return
    setText('')
    setFound(undefined)
    setOpen(false)
    input.current?.focus()
    choose(choice.item)
  }
  const takeKey = (event: KeyboardEvent) => {
    const { key } = event
    if (key === 'Escape' && isOpen) {
      event.stopPropagation()
      setOpen(false)
    } else if (key === 'Enter') {
      // without this, Enter would send the form around the field
      event.preventDefault()
      pick(choices[active])
    } else if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault()
      const count = choices.length
      if (!isOpen) setOpen(true)
      else if (count > 0) setActive(at => (at + (key === 'ArrowDown' ? 1 : count - 1)) % count)
    }
  }
  const news =
    failure !== undefined
      ? t(`errors.${failure}`)
      : found && isOpen
        ? t('forms.search.found', { count: found.length })
        : ''

  return (
    <div className="relative">
      <FieldFrame
        {...{ label, hint, error }}
        control={described => (
          <input
            {...described}
            ref={input}
            role="combobox"
            data-for={name}
            className={`input w-full ${error ? 'border-error' : ''}`}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={text}
            aria-expanded={choices.length > 0}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={choices[active] ? `${id}-${choices[active].id}` : undefined}
            onChange={event => {
              setText(event.target.value)
              setOpen(true)
            }}
            onClick={() => setOpen(true)}
            onKeyDown={takeKey}
            onBlur={() => setOpen(false)}
          />
        )}
      >
        <p role="status" className={`text-sm ${failure ? 'text-error' : 'text-ink-soft'} min-h-5`}>
          {news}
        </p>
      </FieldFrame>
      {/* after the visible field, which is the one that a summary of errors names */}
      {name !== undefined && (
        <input
          ref={store}
          type="hidden"
          name={name}
          value={value}
          onInput={event => restore?.(event.currentTarget.value)}
        />
      )}
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label={label}
        className="absolute inset-x-0 top-16 z-10 max-h-64 overflow-auto rounded-box border border-line bg-base-100 empty:hidden"
      >
        {choices.map((choice, at) => (
          <div
            key={choice.id}
            id={`${id}-${choice.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === active}
            aria-disabled={isBusy}
            className={`flex min-h-10 cursor-pointer flex-col justify-center px-3 py-1 wrap-anywhere ${at === active ? 'bg-base-200' : ''}`}
            // the input keeps the focus
            onPointerDown={event => event.preventDefault()}
            onPointerMove={() => setActive(at)}
            onClick={() => pick(choice)}
            onKeyDown={takeKey}
          >
            {choice.label}
            {choice.note && <span className="text-ink-soft text-sm">{choice.note}</span>}
          </div>
        ))}
      </div>
    </div>
  )
}
