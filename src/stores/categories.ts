import type { Category } from '../contract/categories.ts'
import { AppError } from '../contract/kit/errors.ts'
import { browserEnvironment } from './environment.ts'
import { personalAtom } from './personal-atoms.ts'
import { api, sessionGeneration } from './sessions.ts'
import { $user } from './signed-in-user.ts'

export type CategoriesState =
  | { status: 'idle' }
  | { status: 'loading' }
  | { status: 'ready'; categories: readonly Category[]; chosen: string | undefined }
  | { status: 'failed'; error: AppError }

export const $categories = personalAtom<CategoriesState>({ status: 'idle' })

const chosenKey = 'vidimus:category'

/**
 * Loads them again whenever `$user` is loaded (every 30 seconds) and when the tab wakes. Returns
 * the function that stops this.
 */
export function watchCategories(): () => void {
  void loadCategories()
  const stopListening = $user.listen((user, before) => {
    // the first answer comes while the categories are loading
    if (user && before) void loadCategories()
  })
  const stopWake = browserEnvironment().onWake(() => void loadCategories())
  return () => {
    stopListening()
    stopWake()
  }
}

/** The categories that are shown stay visible meanwhile, even if loading fails. */
export async function loadCategories(): Promise<void> {
  if ($categories.get().status === 'loading') return
  if ($categories.get().status !== 'ready') $categories.set({ status: 'loading' })
  const session = sessionGeneration()
  try {
    const categories = await api('listAllowedCategories', {})
    if (session !== sessionGeneration()) return
    const before = $categories.get()
    // another default category does not replace the one that the person sees
    const known =
      before.status === 'ready' ? before.chosen : browserEnvironment().readStored(chosenKey)
    const chosen = categories.find(({ id }) => id === known) ?? categories[0]
    $categories.set({ status: 'ready', categories, chosen: chosen?.id })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (session !== sessionGeneration() || $categories.get().status !== 'loading') return
    $categories.set({ status: 'failed', error })
  }
}

export function chooseDepositCategory(id: string): void {
  const state = $categories.get()
  if (state.status !== 'ready') return
  browserEnvironment().store(chosenKey, id)
  $categories.set({ ...state, chosen: id })
}
