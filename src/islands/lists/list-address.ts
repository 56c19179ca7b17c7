interface AddressRules<Sort extends string, Filter extends string> {
  /** The first one applies if the address names none. */
  sorts: readonly [Sort, ...Sort[]]
  filters?: Record<Filter, (value: string) => boolean>
}

type AddressQuery<Sort extends string, Filter extends string> = {
  q?: string
  sort?: Sort
} & { [Name in Filter]?: string }

/**
 * Reads and writes `?q=ada&state=invited&sort=-name`. Unknown parameters and values are ignored, so
 * a mistyped address still shows the list.
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
    change: (query: Query, changes: Record<string, string | undefined>): Query =>
      clean({ ...query, ...changes }),
    // keeps the order
    clear: ({ sort }: Query): Query => clean({ sort }),
    filterCount: (query: Query): number => names.filter(name => query[name] !== undefined).length
  }
}
