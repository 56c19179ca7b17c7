interface Bounds {
  /** The most items in one query, unless a single call has more. */
  maxItems: number
  /**
   * After this many milliseconds a running query no longer delays the next one, and both run in
   * parallel.
   */
  slowMs: number
  /** The most queries that run in parallel. */
  maxAtOnce: number
}

/**
 * Returns a function that combines parallel calls into few queries. Items of calls that arrive
 * while a query runs go together into the next query. A call that comes alone does not wait. `load`
 * must return its results in the order of its items. If `load` fails, all calls of its batch
 * reject.
 */
export function createBatchLoader<Item, Answer>(
  load: (items: Item[]) => Promise<Answer[]>,
  { maxItems, slowMs, maxAtOnce }: Bounds
): (items: Item[]) => Promise<Answer[]> {
  const waiting: Call<Item, Answer>[] = []
  const underWay = new Set<Call<Item, Answer>[]>()
  /** The running batch for which the next one waits. Undefined if the next one may start. */
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
   * Removes the calls of the next batch from the queue: at least one call, and together at most
   * `maxItems` items.
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
