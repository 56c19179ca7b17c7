import { type Bytes, fromHex, toHex, toUtf8 } from '../bytes.ts'

/**
 * Returns the first bytes of a hash or HMAC input. Each purpose has its own prefix, so that hashes
 * for different purposes are never equal. `createHashInputPrefix('salt')` → `vidimus/v1/salt` and a
 * zero byte
 */
export function createHashInputPrefix(label: string, ...names: string[]): Bytes {
  const parts = [`vidimus/v1/${label}`, ...names]
  if (parts.some(part => part.includes('\0')))
    throw new Error('hash prefix: zero byte inside a name')
  return toUtf8(`${parts.join('\0')}\0`)
}

/**
 * Formats a SHA-256 as `sha256:` and 64 lower-case hex digits. Throws if it does not have 32 bytes.
 */
export function formatDigest(digest: Uint8Array): string {
  if (digest.length !== 32) throw new Error('digest: not 32 bytes')
  return `sha256:${toHex(digest)}`
}

/**
 * Parses `sha256:` and 64 lower-case hex digits, and returns the 32 bytes. Throws for any other
 * text.
 */
export function parseDigest(text: string): Bytes {
  if (!isDigest(text)) throw new Error('digest: not sha256:<64 hex digits>')
  return fromHex(text.slice(7))
}

/** Returns whether a text is `sha256:` and 64 lower-case hex digits. */
export function isDigest(text: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(text)
}

/**
 * Returns whether a text is the id of a deposit's record: 16 bytes as 22 characters of base64url.
 */
export function isRecordId(text: string): boolean {
  return /^[A-Za-z0-9_-]{21}[AQgw]$/.test(text)
}

/**
 * Formats a time in UTC, rounded down to seconds: `2026-11-20T09:28:15Z`. Throws for a year that
 * does not have four digits.
 */
export function formatTimestamp(time: Date): string {
  const text = time.toISOString()
  if (text.length !== 24) throw new Error('time: year out of range')
  return `${text.slice(0, 19)}Z`
}

/** Returns whether a text is a valid time in UTC, such as `2026-11-20T09:28:15Z`. */
export function isTimestamp(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && formatTimestamp(time) === text
}
