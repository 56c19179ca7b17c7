import { later } from './Later.tsx'

/** `AccountErrorNote`, which follows when something has gone wrong. */
export const AccountError = later(async () => (await import('./ErrorNote.tsx')).AccountErrorNote)
