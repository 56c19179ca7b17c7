import { lazyComponent } from '../kit/LazyComponent.tsx'
import type { RecentChangesProps } from './RecentChangeList.tsx'

export const RecentChanges = lazyComponent<RecentChangesProps>(
  async () => (await import('./RecentChangeList.tsx')).RecentChangeList
)
