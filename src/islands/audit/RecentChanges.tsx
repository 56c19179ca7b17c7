import { lazyComponent } from '../kit/LazyComponent.tsx'
import type { RecentChangesProps } from './RecentChangeList.tsx'

/**
 * Lists the last changes of an item, such as a group, with a link to all its changes. Loads its
 * code and texts when it is first shown.
 */
export const RecentChanges = lazyComponent<RecentChangesProps>(
  async () => (await import('./RecentChangeList.tsx')).RecentChangeList
)
