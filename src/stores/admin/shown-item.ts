import { AppError } from '../../contract/kit/errors.ts'
import { personalAtom } from '../personal-atoms.ts'
import { sessionGeneration } from '../sessions.ts'
import { companyIdOfPage } from './admin-api.ts'
import { isUnknownOrInvalidIdError } from './companies.ts'

export type ItemState<Item> =
  | { status: 'loading' | 'missing' }
  | { status: 'failed'; error: AppError }
  | { status: 'ready'; item: Item }

/**
 * Drops late answers about another item, another company or an ended session. Never replaces a
 * newer state of the item by an older one.
 */
export function createShownItem<Item extends { version: number }>(
  load: (id: string) => Promise<Item>
) {
  const $item = personalAtom<ItemState<Item>>({ status: 'loading' })
  let shown: string | undefined
  let calls = 0
  // calls are numbered as they are sent
  let shownCall = 0

  // call `watch` before the API call, and what it returns when the answer has arrived
  function watch(id: string): () => boolean {
    const [session, company] = [sessionGeneration(), companyIdOfPage()]
    return () => id === shown && session === sessionGeneration() && company === companyIdOfPage()
  }

  async function showAnswer(
    id: string,
    isMissing: (error: AppError) => boolean,
    call: () => Promise<Item>
  ): Promise<Item> {
    const isStillShown = watch(id)
    calls += 1
    const number = calls
    try {
      const item = await call()
      const before = $item.get()
      const isOlder =
        before.status === 'ready' &&
        (item.version < before.item.version ||
          (item.version === before.item.version && number < shownCall))
      if (isStillShown() && !isOlder) {
        shownCall = number
        $item.set({ status: 'ready', item })
      }
      return item
    } catch (error) {
      if (error instanceof AppError && isMissing(error) && isStillShown())
        $item.set({ status: 'missing' })
      throw error
    }
  }

  function reload(id: string): Promise<Item> {
    // the server refuses an id that is not a UUID as invalid input
    return showAnswer(id, isUnknownOrInvalidIdError, () => load(id))
  }

  return {
    $item,
    watch,
    reload,

    /** Returns false if loading fails or if the page has opened another item meanwhile. */
    async open(id: string): Promise<boolean> {
      shown = id
      const isStillShown = watch(id)
      $item.set({ status: 'loading' })
      try {
        await reload(id)
        return isStillShown()
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (isStillShown() && $item.get().status !== 'missing')
          $item.set({ status: 'failed', error })
        return false
      }
    },

    change(id: string, call: () => Promise<Item>): Promise<Item> {
      return showAnswer(id, ({ code }) => code === 'not_found', call)
    }
  }
}
