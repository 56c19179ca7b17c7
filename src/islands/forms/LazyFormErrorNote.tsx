import { lazyComponent } from '../kit/LazyComponent.tsx'

/** `FormErrorNote`, loaded when the first error occurs. */
export const LazyFormErrorNote = lazyComponent(
  async () => (await import('./FormErrorNote.tsx')).FormErrorNote
)
