interface Bounds {
  /** Items that several questions may bring into one. */
  maxItems: number
  /** After so long an answer no longer keeps others waiting: the next question goes beside it. */
  slowMs: number
  /** As many may be under way at a time, all but the newest of them slow. */
  maxAtOnce: number
}

/**
 * Turns a question to the database into one that many callers share: what is asked while an answer is
 * under way waits and goes together in the next. A caller alone never waits. `ask` answers in the order
 * of its items; its failure is everybody's.
 */
export function createBatchLoader<Item, Answer>(
  ask: (items: Item[]) => Promise<Answer[]>,
  { maxItems, slowMs, maxAtOnce }: Bounds
): (items: Item[]) => Promise<Answer[]> {
  const waiting: Question<Item, Answer>[] = []
  const underWay = new Set<Question<Item, Answer>[]>()
  /** The one under way that others wait for. */
  let awaited: Question<Item, Answer>[] | undefined

  function askNext(): void {
    if (awaited || waiting.length === 0 || underWay.size === maxAtOnce) return
    void askTogether(take())
  }

  async function askTogether(together: Question<Item, Answer>[]): Promise<void> {
    awaited = together
    underWay.add(together)
    const passBy = () => {
      if (awaited !== together) return
      awaited = undefined
      askNext()
    }
    const timer = setTimeout(passBy, slowMs)
    try {
      const answers = await ask(together.flatMap(({ items }) => items))
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
    askNext()
  }

  /** The next ones in line, at least one and at most `maxItems` items of several. */
  function take(): Question<Item, Answer>[] {
    let count = 0
    const fits = ({ items }: Question<Item, Answer>, at: number) => {
      count += items.length
      return at === 0 || count <= maxItems
    }
    const tooMany = waiting.findIndex((question, at) => !fits(question, at))
    return waiting.splice(0, tooMany < 0 ? waiting.length : tooMany)
  }

  return items =>
    new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject })
      askNext()
    })
}

interface Question<Item, Answer> {
  items: Item[]
  resolve(answers: Answer[]): void
  reject(error: unknown): void
}
