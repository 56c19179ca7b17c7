import { AppError } from '../../contract/kit/errors.ts'
import type { CompanyId } from '../domain/deps.ts'

const maxTransfers = 3
const retrySeconds = 5

/**
 * Returns the function that frees the slot. Throws `rate_limited` when all of the person's slots
 * are taken.
 */
export type TakeUploadSlot = (upload: {
  company_id: CompanyId
  user_id: string
  id: string
}) => () => void

export function createUploadSlots(): TakeUploadSlot {
  // An upload can have two requests: a client may reconnect before the server has noticed that the
  // earlier connection is dead.
  const everybody = new Map<string, Map<string, number>>()
  return ({ company_id, user_id, id }) => {
    const person = `${company_id} ${user_id}`
    const uploads = everybody.get(person) ?? new Map<string, number>()
    if (!uploads.has(id) && uploads.size >= maxTransfers) {
      throw new AppError(
        'rate_limited',
        `At most ${maxTransfers} uploads of a person at the same time`,
        {
          retryAfter: retrySeconds,
          figures: { used: uploads.size, limit: maxTransfers, resets_at: null }
        }
      )
    }
    everybody.set(person, uploads)
    uploads.set(id, (uploads.get(id) ?? 0) + 1)
    return () => {
      const left = (uploads.get(id) ?? 1) - 1
      if (left > 0) uploads.set(id, left)
      else uploads.delete(id)
      if (uploads.size === 0 && everybody.get(person) === uploads) everybody.delete(person)
    }
  }
}
