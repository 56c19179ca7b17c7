import type { AppError } from '../contract/kit/errors.ts'

export type LoadState<Data> =
  | { status: 'loading' }
  | { status: 'failed'; error: AppError }
  | ({ status: 'ready' } & Data)

/** A list for screens that show it whole or not at all. A refresh that failed counts as `failed`. */
export type ListState<Row> = LoadState<{
  rows: readonly Row[]
  hasMore: boolean
  more: 'idle' | 'loading' | { error: AppError }
}>
