import { type ReactNode, useEffect, useId, useRef, useState } from 'react'

interface SearchBoxProps {
  label: string
  value: string
  onSearch: (q: string) => void
}

const typingMs = 250

export function SearchBox({ label, value, onSearch }: SearchBoxProps) {
  const [typed, setTyped] = useState(value)
  const [asked, setAsked] = useState(value)
  if (value !== asked) {
    // changed from outside: by the address, or by the button that clears
    setAsked(value)
    setTyped(value)
  }
  const field = useRef<HTMLInputElement>(null)
  // what was typed before the page's script ran
  useEffect(() => setTyped(before => field.current?.value ?? before), [])
  const ask = useRef<() => void>(undefined)
  ask.current = () => {
    setAsked(typed.trim())
    onSearch(typed.trim())
  }
  useEffect(() => {
    if (typed.trim() === asked) return
    const timer = setTimeout(() => ask.current?.(), typingMs)
    return () => clearTimeout(timer)
  }, [typed, asked])
  return (
    <form
      className="min-w-40 grow"
      onSubmit={event => {
        event.preventDefault()
        ask.current?.()
      }}
    >
      <LabeledFilter label={label}>
        {id => (
          <input
            ref={field}
            id={id}
            type="search"
            className="input w-full"
            maxLength={100}
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={event => setTyped(event.target.value)}
          />
        )}
      </LabeledFilter>
    </form>
  )
}

export function LabeledFilter({
  label,
  children
}: {
  label: string
  children: (id: string) => ReactNode
}) {
  const id = useId()
  return (
    <div className="flex min-w-0 flex-col gap-1.5 lg:min-w-40">
      <label htmlFor={id} className="label-text">
        {label}
      </label>
      {children(id)}
    </div>
  )
}
