import type { AppError } from '../contract/kit/errors.ts'

/** Data that the server returns, with the state of its loading. */
export type LoadState<Data> =
  | { status: 'loading' }
  | { status: 'failed'; error: AppError }
  | ({ status: 'ready' } & Data)
