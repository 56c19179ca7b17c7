import { useStore } from '@nanostores/react'
import { useEffect } from 'react'
import { isUnknownOrInvalidIdError } from '../../stores/admin/companies.ts'
import type { ListStore } from '../../stores/lists/lists.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import type { createListAddressCodec } from './list-address.ts'
import { useListAddress } from './use-address.ts'

/**
 * Loads a list with the search, the filters and the order in the address of the page. Returns the
 * list, the values of the address, and functions that change the address. If the address has no
 * order, `usualSort` applies. If `owner` is `all`, loads the rows of the whole installation. If
 * `owner` is absent, loads the rows of the company in the address.
 */
export function useListScreen<
  Row extends { id: string },
  Query extends { q?: string; sort?: string },
  Sort extends string,
  Filter extends string
>(
  list: ListStore<Row, Query>,
  addresses: ReturnType<typeof createListAddressCodec<Sort, Filter>>,
  usualSort: Sort,
  owner?: 'all'
) {
  const session = useStore($session, { ssr: 'initial' })
  const route = useStore($route, { ssr: 'initial' })
  const rows = useStore(list.$rows, { ssr: 'initial' })
  const status = useStore(list.$status, { ssr: 'initial' })
  const query = useStore(list.$query, { ssr: 'initial' })
  const { address, change } = useListAddress(addresses.read, addresses.write)
  const params: Record<string, string> = route?.params ?? {}
  const { company = '' } = params
  const { q = '', sort = usualSort } = address ?? {}
  const { open } = list
  const whose = owner ?? company

  useEffect(() => {
    if (session.status !== 'in' || !address || !whose) return
    // as: the rules of the address have checked the values
    void open(whose, { ...address, sort } as unknown as Query)
  }, [session.status, address, whose, sort, open])

  return {
    list,
    company,
    rows,
    status,
    address,
    q,
    sort,
    /** The search text that the shown rows match. Undefined without a search. */
    found: query.q,
    /** Whether the shown rows are the result of a search or a filter. */
    isNarrowed: Object.keys(query).some(name => name !== 'sort'),
    filterCount: addresses.filterCount(address ?? {}),
    /**
     * Whether the list cannot be shown because the company in the page's address, or a group in the
     * filter, does not exist or is hidden from the person. Always false if `owner` is `all`.
     */
    isMissing:
      owner === undefined && status.status === 'failed' && isUnknownOrInvalidIdError(status.error),
    /**
     * Changes the search, the order or filters in the address. Removes those with an empty or
     * undefined value.
     */
    set: (changes: Record<string, string | undefined>) =>
      change(addresses.change(address ?? {}, changes)),
    /** Removes the search and the filters from the address. */
    clear: () => change(addresses.clear(address ?? {}))
  }
}
