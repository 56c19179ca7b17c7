import { AppError } from '../../contract/errors.ts'
import type { ApiContext } from './context.ts'

/** The caller's name for one act, or `undefined` where it gave none. */
export function findIdempotencyKey(c: ApiContext): string | undefined {
  const key = c.req.header('idempotency-key')
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new AppError('invalid_input', 'An Idempotency-Key has 1 to 255 printable characters', {
    fields: { 'idempotency-key': { rule: 'format' } }
  })
}
