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

/** Parses a day of an address, `2026-05-03`. Returns undefined for any other text. */
export function parseDay(text: string | null): string | undefined {
  if (!/^[12]\d{3}-\d\d-\d\d$/.test(text ?? '')) return undefined
  return text && !Number.isNaN(Date.parse(text)) ? text : undefined
}

/**
 * Returns the time when a day begins in the person's time zone, or when the day `later` days after
 * it begins.
 */
export function startOfDay(day: string, later: number): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + later)
}
