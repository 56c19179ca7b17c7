import { lazyPart } from '../kit/LazyPart.tsx'

/** `AccountError`, loaded when the first error occurs. */
export const LazyAccountError = lazyPart(
  async () => (await import('./AccountError.tsx')).AccountError
)
