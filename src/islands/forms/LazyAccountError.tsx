import { later } from '../kit/LazyPart.tsx'

/** `AccountErrorNote`, which follows when something has gone wrong. */
export const AccountError = later(
  async () => (await import('../kit/ErrorNote.tsx')).AccountErrorNote
)
