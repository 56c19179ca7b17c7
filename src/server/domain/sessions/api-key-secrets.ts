import { hash } from 'node:crypto'
import type { Deps } from '../deps.ts'

// The secret of an API key: `vdm_` and 48 characters of base64url, which are 32 random bytes
// and 4 bytes of a checksum. Programs that search files for secrets recognize it, and a key that was
// copied incompletely is refused without a query.

const prefix = 'vdm_'
const randomBytes = 32
const checkBytes = 4
const hintLength = prefix.length + 6

/** `hint` is the beginning of the key, which people can see later; the database stores `digest`. */
export function createApiKeySecret(deps: Pick<Deps, 'random'>): {
  key: string
  hint: string
  digest: Buffer
} {
  const random = Buffer.from(deps.random(randomBytes))
  const key = prefix + Buffer.concat([random, checksum(random)]).toString('base64url')
  return { key, hint: key.slice(0, hintLength), digest: digestOf(key) }
}

/** The key may still be invalid. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith(prefix)
}

export function hashApiKey(key: string): Buffer | undefined {
  if (!/^vdm_[\w-]{48}$/.test(key)) return undefined
  const bytes = Buffer.from(key.slice(prefix.length), 'base64url')
  const random = bytes.subarray(0, randomBytes)
  return checksum(random).equals(bytes.subarray(randomBytes)) ? digestOf(key) : undefined
}

function digestOf(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

function checksum(random: Uint8Array): Buffer {
  return hash('sha256', random, 'buffer').subarray(0, checkBytes)
}
