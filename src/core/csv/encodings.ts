export const encodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'iso-8859-2',
  'macintosh',
  'ibm850'
] as const
export type Encoding = (typeof encodings)[number]

// what the bytes from 0x80 on mean in code page 850, which no browser decodes
const page850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0'

export function createDecoder(encoding: Encoding): Pick<TextDecoder, 'decode'> {
  if (encoding !== 'ibm850') return new TextDecoder(encoding)
  // x-user-defined puts the bytes from 0x80 on at U+F780
  const decoder = new TextDecoder('x-user-defined')
  return {
    decode: (bytes, options) =>
      decoder
        .decode(bytes, options)
        .replace(/[\uf780-\uf7ff]/g, byte => page850.charAt(byte.charCodeAt(0) - 0xf780))
  }
}

/** `spreadsheet`: any ZIP archive. `binary`: any other file that is not text. */
export type DetectedFileType =
  | { kind: 'empty' | 'spreadsheet' | 'binary' }
  /** `encoding` is undefined if only the whole file can show which one it is. */
  | { kind: 'text'; encoding: Encoding | undefined; hasMark: boolean }

const zip = [0x50, 0x4b, 0x03, 0x04]
const oldWorkbook = [0xd0, 0xcf, 0x11, 0xe0]
const binaries = [
  [0x25, 0x50, 0x44, 0x46], // PDF
  [0x89, 0x50, 0x4e, 0x47], // PNG
  [0xff, 0xd8, 0xff], // JPEG
  [0x1f, 0x8b], // gzip
  [0x37, 0x7a, 0xbc, 0xaf] // 7z
]
const marks: [Encoding, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]]
]

// In UTF-16, every second byte of Latin text is NUL.
const utf16Share = 0.3
const binaryShare = 0.01

/** Returns the kind of a file from its first bytes. */
export function detectFileType(bytes: Uint8Array): DetectedFileType {
  const starts = (signature: number[]) => signature.every((byte, at) => bytes[at] === byte)
  if (bytes.length === 0) return { kind: 'empty' }
  if (starts(zip) || starts(oldWorkbook)) return { kind: 'spreadsheet' }
  if (binaries.some(starts)) return { kind: 'binary' }
  for (const [encoding, mark] of marks) {
    if (starts(mark)) return { kind: 'text', encoding, hasMark: true }
  }
  let [even, odd] = [0, 0]
  for (const [at, byte] of bytes.entries()) {
    if (byte === 0 && at % 2 === 0) even += 1
    else if (byte === 0) odd += 1
  }
  const half = bytes.length / 2
  if (odd / half >= utf16Share && odd > even * 4)
    return { kind: 'text', encoding: 'utf-16le', hasMark: false }
  if (even / half >= utf16Share && even > odd * 4)
    return { kind: 'text', encoding: 'utf-16be', hasMark: false }
  if ((even + odd) / bytes.length >= binaryShare) return { kind: 'binary' }
  return { kind: 'text', encoding: undefined, hasMark: false }
}

/**
 * Returns a check that takes each piece of a file and, at the end, no piece. It returns false from
 * the first piece on that is not UTF-8.
 */
export function createUtf8Check(): (piece?: Uint8Array) => boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isUtf8 = true
  return piece => {
    try {
      if (isUtf8) decoder.decode(piece, { stream: piece !== undefined })
    } catch {
      isUtf8 = false
    }
    return isUtf8
  }
}

const guessed = ['windows-1252', 'windows-1250', 'macintosh', 'ibm850', 'windows-1251'] as const
const comparedBytes = 64 * 1024

/**
 * Guesses the encoding in which the fewest characters look out of place. Line ends decide a tie:
 * `\r` alone is that of old Macs, and Macs do not write `\r\n`.
 */
export function guessEncoding(bytes: Uint8Array): Encoding {
  const start = Math.max(0, bytes.findIndex(byte => byte >= 0x80) - 100)
  const excerpt = bytes.subarray(start, start + comparedBytes)
  const ofReturns = bytes.includes(0x0a) ? 1 : -1
  const ofMacs = bytes.includes(0x0d) ? ofReturns : 0
  const rank = (encoding: Encoding) => (encoding === 'macintosh' ? ofMacs : 0)
  const order = guessed.toSorted((a, b) => rank(a) - rank(b))
  const faults = order.map(encoding => oddness(createDecoder(encoding).decode(excerpt)))
  return order[faults.indexOf(Math.min(...faults))] ?? 'windows-1252'
}

function oddness(text: string): number {
  let odd = 0
  for (const { 0: character, index } of text.matchAll(/[^\0-\x7f]/g)) {
    odd += oddnessOf(character, text.slice(Math.max(0, index - 3), index), text.charAt(index + 1))
  }
  return odd
}

const [upper, lower] = [/\p{Lu}$/u, /[^ƒ\P{Ll}]$/u]
const letter = /[^ƒ\P{L}]$/u

function oddnessOf(character: string, before: string, after: string): number {
  if (/[\x80-\x9f\ufffd]/.test(character)) return 2
  const [isUpper, isLower] = [upper.test(character), lower.test(character)]
  const [follows, precedes] = [letter.test(before), letter.test(after)]
  if (isUpper || isLower) {
    const isLatin = /\p{Script=Latin}/u.test(character)
    const isOther = (text: string) =>
      letter.test(text) && /\p{Script=Latin}$/u.test(text) !== isLatin
    if (isOther(before) || isOther(after)) return 1
    if (isUpper && (lower.test(before) || (upper.test(before) && lower.test(after)))) return 1
    if (isLower && upper.test(after) && !lower.test(before)) return 1
    // hardly any language has such pairs
    return isLatin && precedes && after > '\x7f' ? 0.5 : 0
  }
  if (/[’\u00a0]/.test(character)) return 0
  if (follows && precedes) return 1
  if (!follows && lower.test(after) && !/[«“‘„‹¿¡]/.test(character)) return 1
  // as in `Pawe³`, but not in `km²`
  return /^\p{L}{3}$/u.test(before) && /[\p{No}\p{Sc}\p{Sk}\p{Sm}\p{Lo}¿¡¶§]/u.test(character)
    ? 1
    : 0
}

/** Returns undefined if the encoding lacks a character. Windows-1252 has no mark. */
export function encodeText(
  text: string,
  encoding: Encoding,
  hasMark: boolean
): Uint8Array<ArrayBuffer> | undefined {
  if (encoding !== 'utf-8' && encoding !== 'utf-16le' && encoding !== 'utf-16be')
    return encodeSingleBytes(text, encoding)
  const marked = hasMark ? `\uFEFF${text}` : text
  if (encoding === 'utf-8') return new TextEncoder().encode(marked)
  const bytes = new Uint8Array(marked.length * 2)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < marked.length; at++) {
    view.setUint16(at * 2, marked.charCodeAt(at), encoding === 'utf-16le')
  }
  return bytes
}

function encodeSingleBytes(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> | undefined {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const characters = createDecoder(encoding).decode(all)
  const byteOf = new Map([...characters].map((character, byte) => [character, byte]))
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const byte = byteOf.get(text.charAt(at))
    if (byte === undefined) return undefined
    bytes[at] = byte
  }
  return bytes
}
