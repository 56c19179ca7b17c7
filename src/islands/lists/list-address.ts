interface AddressRules<Sort extends string, Filter extends string> {
  /** The possible sort orders. The first one applies if the address names none. */
  sorts: readonly [Sort, ...Sort[]]
  /** For each filter, a function that returns whether the filter can have the value `value`. */
  filters?: Record<Filter, (value: string) => boolean>
}

/** The search, the order and the filters of a list, as the address of the page contains them. */
type AddressQuery<Sort extends string, Filter extends string> = {
  q?: string
  sort?: Sort
} & { [Name in Filter]?: string }

/**
 * Returns functions that read and write the search, the order and the filters of a list in the
 * address of the page: `?q=ada&state=invited&sort=-name`. They ignore parameters and values that
 * the list does not know, so a mistyped address still shows the list.
 */
export function createListAddressCodec<Sort extends string, Filter extends string = never>({
  sorts,
  filters
}: AddressRules<Sort, Filter>) {
  type Query = AddressQuery<Sort, Filter>
  // as: the keys of the rules
  const names = Object.keys(filters ?? {}) as Filter[]

  function clean(values: Record<string, string | undefined>): Query {
    const { q = '', sort } = values
    const known = sorts.find(each => each === sort)
    const kept = names.flatMap(name => {
      const value = values[name]
      return value && filters?.[name](value) ? [[name, value]] : []
    })
    // as: each name and value was checked above
    return {
      ...(/^\P{Cc}{1,100}$/u.test(q) ? { q } : {}),
      ...Object.fromEntries(kept),
      ...(known && known !== sorts[0] ? { sort: known } : {})
    } as Query
  }

  return {
    read: (search: string): Query => clean(Object.fromEntries(new URLSearchParams(search))),
    write(query: Query): string {
      const written = new URLSearchParams(clean({ ...query }))
      return written.size > 0 ? `?${written}` : ''
    },
    /** Returns the query with some values changed. An empty or undefined value is removed. */
    change: (query: Query, changes: Record<string, string | undefined>): Query =>
      clean({ ...query, ...changes }),
    /** Returns the query without search and filters. Keeps the sort order. */
    clear: ({ sort }: Query): Query => clean({ sort }),
    /** Returns the number of filters that are set. The search does not count. */
    filterCount: (query: Query): number => names.filter(name => query[name] !== undefined).length
  }
}
