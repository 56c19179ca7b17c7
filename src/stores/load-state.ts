import type { AppError } from '../contract/kit/errors.ts'

export type LoadState<Data> =
  | { status: 'loading' }
  | { status: 'failed'; error: AppError }
  | ({ status: 'ready' } & Data)

interface Pages {
  hasMore: boolean
  more: 'idle' | 'loading' | { error: AppError }
}

export type ListStatus =
  | { status: 'idle' }
  | { status: 'loading' }
  /** `stale`: why the last refresh failed. The rows of the earlier load stay visible. */
  | ({ status: 'ready'; stale?: AppError } & Pages)
  | { status: 'failed'; error: AppError }

/** For screens that show a list whole or not at all: a refresh that failed counts as `failed`. */
export function wholeListState<Row>(
  rows: readonly Row[],
  status: ListStatus
): LoadState<{ rows: readonly Row[] } & Pages> {
  if (status.status === 'failed') return status
  if (status.status !== 'ready') {
    // rows of an earlier query stay until those of the new one are there
    if (rows.length === 0) return { status: 'loading' }
    return { status: 'ready', rows, hasMore: false, more: 'idle' }
  }
  const { hasMore, more, stale } = status
  return stale ? { status: 'failed', error: stale } : { status: 'ready', rows, hasMore, more }
}
