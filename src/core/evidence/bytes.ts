export type Bytes = Uint8Array<ArrayBuffer>

const standard = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const urlSafe = `${standard.slice(0, 62)}-_`

/** Standard base64 with padding: Merkle roots, C2SP notes, timestamp tokens. */
export function toBase64(bytes: Uint8Array): string {
  const text = encode(bytes, standard)
  return text + '='.repeat((4 - (text.length % 4)) % 4)
}

/** Takes exactly what `toBase64` writes, so that a value has one spelling. */
export function fromBase64(text: string): Bytes {
  if (text.length % 4 !== 0) throw new Error('base64: wrong padding')
  const body = text.replace(/={1,2}$/, '')
  if (text.length - body.length !== (4 - (body.length % 4)) % 4)
    throw new Error('base64: wrong padding')
  return decode(body, standard)
}

/** base64url without padding: ids, salts, commitments, tags. */
export function toBase64Url(bytes: Uint8Array): string {
  return encode(bytes, urlSafe)
}

/** Takes exactly what `toBase64Url` writes, so that a value has one spelling. */
export function fromBase64Url(text: string): Bytes {
  return decode(text, urlSafe)
}

export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

/** Lower case only. */
export function fromHex(text: string): Bytes {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) throw new Error('hex: not lower-case hex')
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

/** Refuses lone surrogates: encoding would silently turn different texts into the same bytes. */
export function toUtf8(text: string): Bytes {
  if (hasLoneSurrogate(text)) throw new Error('utf8: lone surrogate')
  return new TextEncoder().encode(text)
}

/** Refuses invalid UTF-8 and keeps a byte order mark as a character. */
export function fromUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}

export function concat(...parts: Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/**
 * The input of every hash and HMAC of ours: a label, then what follows, kept apart by zero bytes.
 * `domain('box')` → `vidimus/v1/box` 0x00
 */
export function domain(label: string, ...names: string[]): Bytes {
  const parts = [`vidimus/v1/${label}`, ...names]
  if (parts.some(part => part.includes('\0'))) throw new Error('domain: zero byte inside a name')
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

/** 16 bytes as 22 characters of base64url. */
export function isRecordId(text: string): boolean {
  return /^[A-Za-z0-9_-]{21}[AQgw]$/.test(text)
}

/** UTC, whole seconds, rounded down: `2026-11-20T09:28:15Z` */
export function formatTime(time: Date): string {
  const text = time.toISOString()
  if (text.length !== 24) throw new Error('time: year out of range')
  return `${text.slice(0, 19)}Z`
}

/** A time of the calendar in that one spelling. */
export function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && formatTime(time) === text
}

function encode(bytes: Uint8Array, alphabet: string): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    held += 8
    while (held >= 6) {
      held -= 6
      text += alphabet.charAt((bits >> held) & 63)
    }
    bits &= (1 << held) - 1
  }
  if (held > 0) text += alphabet.charAt((bits << (6 - held)) & 63)
  return text
}

function decode(text: string, alphabet: string): Bytes {
  if (text.length % 4 === 1) throw new Error('base64: wrong length')
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (const character of text) {
    const value = alphabet.indexOf(character)
    if (value < 0) throw new Error('base64: wrong alphabet')
    bits = (bits << 6) | value
    held += 6
    if (held >= 8) {
      held -= 8
      bytes[at++] = bits >> held
      bits &= (1 << held) - 1
    }
  }
  if (bits !== 0) throw new Error('base64: trailing bits are not zero')
  return bytes
}
