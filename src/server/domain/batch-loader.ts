interface Bounds {
  /** Maximum number of items of one query. A single call with more items is not split. */
  maxItems: number
  /**
   * How many milliseconds the next query waits for the running one to end. After that time, both
   * run in parallel.
   */
  slowMs: number
  maxAtOnce: number
}

/**
 * Returns a function that loads items with `load` and combines parallel calls into few queries.
 * Calls that arrive while a query runs wait for the next query, which loads the items of all of
 * them. `slowMs` limits how long the next query waits for the running one. If no query is running,
 * a call does not wait. `load` must return a result for each item, in the same order. If `load`
 * fails, all calls with items in that query reject.
 */
export function createBatchLoader<Item, Answer>(
  load: (items: Item[]) => Promise<Answer[]>,
  { maxItems, slowMs, maxAtOnce }: Bounds
): (items: Item[]) => Promise<Answer[]> {
  const waiting: Call<Item, Answer>[] = []
  const underWay = new Set<Call<Item, Answer>[]>()
  /**
   * The calls of the query that was started last. The next query waits until it ends, but at most
   * for `slowMs`. Undefined if there is no query to wait for.
   */
  let awaited: Call<Item, Answer>[] | undefined

  function loadNext(): void {
    if (awaited || waiting.length === 0 || underWay.size === maxAtOnce) return
    void loadTogether(take())
  }

  async function loadTogether(together: Call<Item, Answer>[]): Promise<void> {
    awaited = together
    underWay.add(together)
    const unblock = () => {
      if (awaited !== together) return
      awaited = undefined
      loadNext()
    }
    const timer = setTimeout(unblock, slowMs)
    try {
      const answers = await load(together.flatMap(({ items }) => items))
      let at = 0
      for (const { items, resolve } of together) {
        resolve(answers.slice(at, at + items.length))
        at += items.length
      }
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
    clearTimeout(timer)
    underWay.delete(together)
    if (awaited === together) awaited = undefined
    loadNext()
  }

  /**
   * Removes the oldest calls from `waiting`, as many as fit into `maxItems` items, and returns
   * them. A call that has more than `maxItems` items itself is returned alone.
   */
  function take(): Call<Item, Answer>[] {
    let count = 0
    const fits = ({ items }: Call<Item, Answer>, at: number) => {
      count += items.length
      return at === 0 || count <= maxItems
    }
    const tooMany = waiting.findIndex((call, at) => !fits(call, at))
    return waiting.splice(0, tooMany < 0 ? waiting.length : tooMany)
  }

  return items =>
    new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject })
      loadNext()
    })
}

interface Call<Item, Answer> {
  items: Item[]
  resolve(answers: Answer[]): void
  reject(error: unknown): void
}
