import { type Bytes, fromHex, toHex, toUtf8 } from '../bytes.ts'

/**
 * Begins the input of each hash, so that hashes for two purposes never equal: `salt` →
 * `vidimus/v1/salt` and a zero byte
 */
export function createHashInputPrefix(label: string, ...names: string[]): Bytes {
  const parts = [`vidimus/v1/${label}`, ...names]
  if (parts.some(part => part.includes('\0')))
    throw new Error('hash prefix: zero byte inside a name')
  return toUtf8(`${parts.join('\0')}\0`)
}

/** `sha256:` and 64 lower-case hex digits. */
export function formatDigest(digest: Uint8Array): string {
  if (digest.length !== 32) throw new Error('digest: not 32 bytes')
  return `sha256:${toHex(digest)}`
}

export function parseDigest(text: string): Bytes {
  if (!isDigest(text)) throw new Error('digest: not sha256:<64 hex digits>')
  return fromHex(text.slice(7))
}

export function isDigest(text: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(text)
}

export function isRecordId(text: string): boolean {
  return /^[A-Za-z0-9_-]{21}[AQgw]$/.test(text)
}

/** Rounds down to seconds: `2026-11-20T09:28:15Z` */
export function formatTimestamp(time: Date): string {
  const text = time.toISOString()
  if (text.length !== 24) throw new Error('time: year out of range')
  return `${text.slice(0, 19)}Z`
}

export function isTimestamp(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && formatTimestamp(time) === text
}
