import { useStore } from '@nanostores/react'
import { useEffect } from 'react'
import { isUnknownOrInvalidIdError } from '../../stores/admin/companies.ts'
import type { createListStore } from '../../stores/lists/lists.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import type { createListAddressCodec } from './list-address.ts'
import { useListAddress } from './use-address.ts'

/**
 * Loads the list that the address of the page describes. `owner` is `all` for rows of the whole
 * installation.
 */
export function useListScreen<
  Row extends { id: string },
  Query extends { q?: string; sort?: string },
  Sort extends string,
  Filter extends string
>(
  list: ReturnType<typeof createListStore<Row, Query>>,
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
    /** The search that the shown rows match. */
    found: query.q,
    /** Whether the shown rows are the result of a search or a filter. */
    isNarrowed: Object.keys(query).some(name => name !== 'sort'),
    filterCount: addresses.filterCount(address ?? {}),
    /**
     * Whether the company or a group in the address does not exist, or is hidden from the person.
     */
    isMissing:
      owner === undefined && status.status === 'failed' && isUnknownOrInvalidIdError(status.error),
    /** Empty and undefined values are removed. */
    set: (changes: Record<string, string | undefined>) =>
      change(addresses.change(address ?? {}, changes)),
    clear: () => change(addresses.clear(address ?? {}))
  }
}
