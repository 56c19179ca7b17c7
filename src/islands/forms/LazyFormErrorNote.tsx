import { lazyComponent } from '../kit/LazyComponent.tsx'

export const LazyFormErrorNote = lazyComponent(
  async () => (await import('./FormErrorNote.tsx')).FormErrorNote
)
