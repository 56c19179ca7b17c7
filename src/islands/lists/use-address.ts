import { useCallback, useEffect, useState } from 'react'

/**
 * Keeps the search, the order and the filters of a list in the page's address, so that they can be
 * bookmarked and shared. `address` is undefined until the page's script runs. `read` and `write`
 * must be the same functions at every render.
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

/** Returns `text` if it is a day, such as `2026-05-03`. Returns undefined for any other text. */
export function parseDay(text: string | null): string | undefined {
  if (!/^[12]\d{3}-\d\d-\d\d$/.test(text ?? '')) return undefined
  return text && !Number.isNaN(Date.parse(text)) ? text : undefined
}

/**
 * Returns `text` if it has the form of an id: a UUID in lower case. Returns undefined for any other
 * text.
 */
export function parseId(text: string | null): string | undefined {
  return text && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined
}

/** Returns a copy of the filters without those that are undefined or an empty text. */
export function withoutEmptyFilters<Fields extends object>(
  fields: Fields
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  // as: the same fields, less those that are empty
  return Object.fromEntries(kept) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }
}

/**
 * Returns the filters as the query of an address, in the order of `names`: `?kind=deposit`. Returns
 * an empty text if no filter has a value.
 */
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

/**
 * Returns `from` as the time (ISO 8601) when that day begins, and `to` as the time when that day
 * ends, in the person's time zone. Leaves out a day that is not given.
 */
export function dayRangeToTimes({ from, to }: { from?: string; to?: string }) {
  return withoutEmptyFilters({
    from: from && startOfDay(from, 0).toISOString(),
    to: to && startOfDay(to, 1).toISOString()
  })
}

/**
 * Adds `later` days to a day (`2026-05-03`). Returns the time when the resulting day begins in the
 * person's time zone.
 */
function startOfDay(day: string, later: number): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + later)
}
