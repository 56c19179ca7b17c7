import { lazyPart } from '../kit/LazyPart.tsx'

/** `AccountError`, loaded when something has gone wrong. */
export const LazyAccountError = lazyPart(
  async () => (await import('./AccountError.tsx')).AccountError
)
