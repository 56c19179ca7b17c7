interface Bounds {
  // of one query; a call with more is not split
  maxItems: number
  // after this time the next query no longer waits for the running one
  slowMs: number
  maxAtOnce: number
}

/**
 * Combines parallel calls into few queries: calls that arrive while a query runs share the next
 * one. `load` returns a result for each item, in the same order.
 */
export function createBatchLoader<Item, Answer>(
  load: (items: Item[]) => Promise<Answer[]>,
  { maxItems, slowMs, maxAtOnce }: Bounds
): (items: Item[]) => Promise<Answer[]> {
  const waiting: Call<Item, Answer>[] = []
  const underWay = new Set<Call<Item, Answer>[]>()
  // the query that was started last, while the next one waits for it
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
