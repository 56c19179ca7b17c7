/**
 * Turns a question to the database into one that many callers share: what is asked while an answer is
 * under way waits and goes together in the next. A caller alone never waits. `ask` answers in the order
 * of its items; its failure is everybody's.
 */
export function gather<Item, Answer>(
  ask: (items: Item[]) => Promise<Answer[]>,
  maxItems: number
): (items: Item[]) => Promise<Answer[]> {
  const waiting: Question<Item, Answer>[] = []
  let isAsking = false

  async function askAll(): Promise<void> {
    isAsking = true
    for (let together = take(); together.length > 0; together = take()) {
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
    }
    isAsking = false
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
      if (!isAsking) void askAll()
    })
}

interface Question<Item, Answer> {
  items: Item[]
  resolve(answers: Answer[]): void
  reject(error: unknown): void
}
