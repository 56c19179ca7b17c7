/** Bytes in an `ArrayBuffer`, the only kind of memory that the types of WebCrypto accept. */
export type Bytes = Uint8Array<ArrayBuffer>

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

// neither `Uint8Array.toBase64`, which Node 24 lacks, nor `btoa`, which is three times slower in
// Node
export function toBase64Url(bytes: Uint8Array): string {
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

export function fromBase64Url(text: string): Bytes {
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

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const digits = toBase64Url(bytes).replaceAll('-', '+').replaceAll('_', '/')
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, '=')
}

/** Standard base64 with padding. */
export function fromBase64(text: string): Bytes {
  const digits = text.replace(/={1,2}$/, '')
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(digits))
    throw new Error('base64: not standard base64')
  return fromBase64Url(digits.replaceAll('+', '-').replaceAll('/', '_'))
}

export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

export function fromHex(text: string): Bytes {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) throw new Error('hex: not lower-case hex')
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

const encoder = new TextEncoder()

// throws, because `TextEncoder` encodes all lone surrogates as the same bytes
export function toUtf8(text: string): Bytes {
  if (!text.isWellFormed()) throw new Error('utf8: lone surrogate')
  return encoder.encode(text)
}

/** Decodes UTF-8 and keeps a byte order mark. Throws if the bytes are not valid UTF-8. */
export function fromUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

export function areEqualBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i])
}

export function concatBytes(...parts: Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}
