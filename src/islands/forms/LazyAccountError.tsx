import { lazyPart } from '../kit/LazyPart.tsx'

/** `AccountErrorNote`, which follows when something has gone wrong. */
export const LazyAccountError = lazyPart(
  async () => (await import('../kit/ErrorNote.tsx')).AccountErrorNote
)
