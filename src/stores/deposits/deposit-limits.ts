import type { AppError } from '../../contract/errors.ts'
import type { DepositCategory, DepositEntry } from './deposit-entry.ts'

/** What the service has said of the room there is: by category, until somebody tries anew. */
export interface DepositLimits {
  /** Why this many bytes have no place now; asked with none, whether anything at all has. */
  against: (category: DepositCategory, bytes: number) => AppError | undefined
  /** Notes a limit that an entry has met; answers whether nothing more goes, however small. */
  meet: (entry: DepositEntry, error: AppError) => boolean
  lift: (category: DepositCategory) => void
  clear: () => void
}

/** Nothing more goes where no request is left; where the room is short, smaller files still do. */
export function createDepositLimits(): DepositLimits {
  /** By category: why, and from how many bytes on, nothing more goes. */
  const limits = new Map<string, { error: AppError; fits: number }>()
  return {
    against({ id }, bytes) {
      const limit = limits.get(id)
      return limit && bytes >= limit.fits ? limit.error : undefined
    },
    meet({ category: { id }, prepared }, error) {
      const isFull = error.code === 'request_limit_reached'
      const size = prepared?.bytes.size ?? 0
      const fits = isFull ? 0 : Math.min(size, limits.get(id)?.fits ?? size)
      limits.set(id, { error, fits })
      return isFull
    },
    lift: ({ id }) => void limits.delete(id),
    clear: () => limits.clear()
  }
}
