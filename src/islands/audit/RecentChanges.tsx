import { lazyPart } from '../kit/LazyPart.tsx'
import type { RecentChangesProps } from './ChangeList.tsx'

/**
 * Lists the last changes of an item, such as a group, with a link to all its changes. Loads its
 * code and texts when it is first shown.
 */
export const RecentChanges = lazyPart<RecentChangesProps>(
  async () => (await import('./ChangeList.tsx')).ChangeList
)
