import { createHmac, type KeyObject } from 'node:crypto'
import { createHashInputPrefix } from '../../../core/evidence/formats.ts'

/**
 * Returns the tag of a fingerprint: 32 bytes. `lookup` is the company's key for it, and `kind` says
 * what the tag finds, a deposit (`sha256`) or a stored file (`blob`).
 */
export function keyedHashOf(
  lookup: KeyObject,
  kind: 'sha256' | 'blob',
  digest: Uint8Array
): Buffer {
  if (digest.length !== 32) throw new Error('tag: a fingerprint has 32 bytes')
  const hmac = createHmac('sha256', lookup)
  return hmac
    .update(createHashInputPrefix(`tag/${kind}`))
    .update(digest)
    .digest()
}
