/** The encodings in which a CSV file can be read and written. */
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const
export type Encoding = (typeof encodings)[number]

/**
 * The kind of a file, detected from its first bytes. `spreadsheet`: a workbook such as XLSX, or any
 * other ZIP archive. `binary`: any other file that is not text.
 */
export type DetectedFileType =
  | { kind: 'empty' | 'spreadsheet' | 'binary' }
  /**
   * A text. `encoding` is undefined if the first bytes fit both UTF-8 and Windows-1252: only the
   * whole file shows which of the two it is.
   */
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

/**
 * A file without a byte order mark counts as UTF-16 only if at least this fraction of its bytes at
 * odd positions, or of its bytes at even positions, is NUL. In UTF-16, every second byte of Latin
 * text is NUL.
 */
const utf16Share = 0.3
/** A file that is not UTF-16 counts as binary if at least this fraction of its bytes is NUL. */
const binaryShare = 0.01

/** Returns the kind of a file from its first bytes. A few thousand bytes are enough. */
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
 * Returns a function that checks whether a file is UTF-8. Call it with each piece of the file in
 * order, and at the end without a piece. It returns true until a piece is not UTF-8, and false from
 * then on. A character may be split between two pieces.
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

/**
 * The characters of the bytes 0x80 to 0x9F in Windows-1252, in order. For all other bytes, the code
 * point of the character equals the byte.
 */
const high =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178'

/**
 * Encodes a text. Returns undefined if the text has a character that the encoding lacks. With
 * `hasMark`, the result begins with a byte order mark, except in Windows-1252, which has none.
 */
export function encodeText(
  text: string,
  encoding: Encoding,
  hasMark: boolean
): Uint8Array<ArrayBuffer> | undefined {
  if (encoding === 'windows-1252') return encodeWindows1252(text)
  const marked = hasMark ? `\uFEFF${text}` : text
  if (encoding === 'utf-8') return new TextEncoder().encode(marked)
  const bytes = new Uint8Array(marked.length * 2)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < marked.length; at++) {
    view.setUint16(at * 2, marked.charCodeAt(at), encoding === 'utf-16le')
  }
  return bytes
}

function encodeWindows1252(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isSame = code < 0x80 || (code >= 0xa0 && code <= 0xff)
    const place = isSame ? -1 : high.indexOf(text.charAt(at))
    if (!isSame && place < 0) return undefined
    bytes[at] = isSame ? code : 0x80 + place
  }
  return bytes
}
