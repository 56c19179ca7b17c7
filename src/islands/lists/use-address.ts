import { useCallback, useEffect, useState } from 'react'

/**
 * `address` is undefined until the page's script runs. `read` and `write` must stay the same
 * functions.
 */
export function useListAddress<Address>(
  read: (search: string) => Address,
  write: (address: Address) => string
) {
  const [address, setAddress] = useState<Address>()
  useEffect(() => setAddress(read(location.search)), [read])
  const change = useCallback(
    (next: Address) => {
      setAddress(next)
      const { pathname, hash } = location
      // replaced, so that Back leads to the previous page and not through every typed letter
      history.replaceState(history.state, '', `${pathname}${write(next)}${hash}`)
    },
    [write]
  )
  return { address, change }
}

/** `2026-05-03` */
export function parseDay(text: string | null): string | undefined {
  if (!/^[12]\d{3}-\d\d-\d\d$/.test(text ?? '')) return undefined
  return text && !Number.isNaN(Date.parse(text)) ? text : undefined
}

/** A UUID in lower case. */
export function parseId(text: string | null): string | undefined {
  return text && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined
}

export function withoutEmptyFilters<Fields extends object>(
  fields: Fields
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  // as: the same fields, less those that are empty
  return Object.fromEntries(kept) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }
}

export function formatFilterQuery<Name extends string>(
  names: readonly Name[],
  filters: { [Each in Name]?: string }
): string {
  const query = new URLSearchParams()
  for (const name of names) {
    const value = filters[name]
    if (value) query.set(name, value)
  }
  return query.size > 0 ? `?${query}` : ''
}

/** Returns the times at which the first day begins and the last ends, in the person's time zone. */
export function dayRangeToTimes({ from, to }: { from?: string; to?: string }) {
  return withoutEmptyFilters({
    from: from && startOfDay(from, 0).toISOString(),
    to: to && startOfDay(to, 1).toISOString()
  })
}

function startOfDay(day: string, later: number): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + later)
}
