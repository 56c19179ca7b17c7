import { atom } from 'nanostores'
import type { Category } from '../contract/categories.ts'
import { AppError } from '../contract/errors.ts'
import { environment } from './environment.ts'
import { api, onSignOut } from './sessions.ts'

export type Categories =
  | { status: 'idle' }
  | { status: 'loading' }
  | { status: 'ready'; categories: readonly Category[]; chosen: string | undefined }
  | { status: 'failed'; error: AppError }

/** What the person may deposit in, and what they deposit in at present. */
export const $categories = atom<Categories>({ status: 'idle' })

const chosenKey = 'vidimus:category'

/** Counts sessions, so that an answer of an ended one is dropped. */
let visit = 0

onSignOut(() => {
  visit += 1
  $categories.set({ status: 'idle' })
})

export async function loadCategories(): Promise<void> {
  if ($categories.get().status === 'loading') return
  if ($categories.get().status !== 'ready') $categories.set({ status: 'loading' })
  const mine = visit
  try {
    const categories = await api('listCategories', {})
    if (mine !== visit) return
    const remembered = environment().readStored(chosenKey)
    const chosen = categories.find(({ id }) => id === remembered) ?? categories[0]
    $categories.set({ status: 'ready', categories, chosen: chosen?.id })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (mine !== visit || $categories.get().status !== 'loading') return
    $categories.set({ status: 'failed', error })
  }
}

export function chooseCategory(id: string): void {
  const state = $categories.get()
  if (state.status !== 'ready') return
  environment().store(chosenKey, id)
  $categories.set({ ...state, chosen: id })
}
