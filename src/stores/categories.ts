import type { Category } from '../contract/categories.ts'
import { AppError } from '../contract/errors.ts'
import { environment } from './environment.ts'
import { personalAtom } from './personal-atoms.ts'
import { api, sessionNumber } from './sessions.ts'

export type Categories =
  | { status: 'idle' }
  | { status: 'loading' }
  | { status: 'ready'; categories: readonly Category[]; chosen: string | undefined }
  | { status: 'failed'; error: AppError }

/** The categories in which the person may deposit, and the one they have chosen. */
export const $categories = personalAtom<Categories>({ status: 'idle' })

const chosenKey = 'vidimus:category'

export async function loadCategories(): Promise<void> {
  if ($categories.get().status === 'loading') return
  if ($categories.get().status !== 'ready') $categories.set({ status: 'loading' })
  const session = sessionNumber()
  try {
    const categories = await api('listCategories', {})
    if (session !== sessionNumber()) return
    const remembered = environment().readStored(chosenKey)
    const chosen = categories.find(({ id }) => id === remembered) ?? categories[0]
    $categories.set({ status: 'ready', categories, chosen: chosen?.id })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (session !== sessionNumber() || $categories.get().status !== 'loading') return
    $categories.set({ status: 'failed', error })
  }
}

export function chooseCategory(id: string): void {
  const state = $categories.get()
  if (state.status !== 'ready') return
  environment().store(chosenKey, id)
  $categories.set({ ...state, chosen: id })
}
