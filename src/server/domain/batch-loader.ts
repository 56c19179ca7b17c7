interface Bounds {
  /** Items in one query that several calls share. */
  maxItems: number
  /** After this time a slow query no longer blocks the next one, which runs beside it. */
  slowMs: number
  /** Highest number of parallel queries. */
  maxAtOnce: number
}

/**
 * Returns a function that batches parallel calls: items that arrive while a query runs go together
 * into the next one. A single call never waits. `load` returns results in the order of its items;
 * its failure rejects all calls of the batch.
 */
export function createBatchLoader<Item, Answer>(
  load: (items: Item[]) => Promise<Answer[]>,
  { maxItems, slowMs, maxAtOnce }: Bounds
): (items: Item[]) => Promise<Answer[]> {
  const waiting: Call<Item, Answer>[] = []
  const underWay = new Set<Call<Item, Answer>[]>()
  /** The running batch that others wait for. */
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

  /** Takes the next calls in line: at least one, and at most `maxItems` items of several. */
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
