import { useCallback, useEffect, useState } from 'react'

/**
 * Keeps the search, the order and the filters of a list in the page's address, which can be
 * bookmarked and shared. Returns undefined for `address` until the page's script runs. `read` and
 * `write` must be the same at every render.
 */
export function useAddress<Address>(
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
