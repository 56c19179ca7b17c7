import { lazyComponent } from '../kit/LazyComponent.tsx'

/** The component `FormErrorNote`. Its code is loaded when the first error occurs. */
export const LazyFormErrorNote = lazyComponent(
  async () => (await import('./FormErrorNote.tsx')).FormErrorNote
)
