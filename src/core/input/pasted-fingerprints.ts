import { fromBase64Url, toHex } from '../bytes.ts'

/**
 * Parses a pasted SHA-256 into 64 lower-case hex digits. Accepts hex in upper or lower case, with
 * or without blanks, and standard or URL-safe base64. Each may begin with `sha256:`. Returns
 * undefined for any other text. `SHA256: E3B0 C442 …` → `e3b0c442…`
 */
export function parseFingerprint(text: string): string | undefined {
  const body = text.replace(/\s+/g, '').replace(/^sha-?256[:-]/i, '')
  if (/^[0-9a-f]{64}$/i.test(body)) return body.toLowerCase()
  if (!/^[\w+/-]{43}=?$/.test(body)) return undefined
  try {
    const urlSafe = body.replace('=', '').replaceAll('+', '-').replaceAll('/', '_')
    return toHex(fromBase64Url(urlSafe))
  } catch {
    return undefined // more than 32 bytes: the copy is damaged
  }
}

/**
 * A SHA-256 that a person pasted. `name` is the file name in the pasted line, or undefined if the
 * line contains only a SHA-256.
 */
export interface NamedFingerprint {
  sha256: string
  name: string | undefined
}

/**
 * Parses pasted text: one fingerprint, or a checksum list as printed by `sha256sum`,
 * `sha256sum --tag` or OpenSSL. Returns undefined if any line is something else. Each of the lines
 * `e3b0… *a.pdf` and `SHA256 (a.pdf) = e3b0…` becomes `{ sha256: 'e3b0…', name: 'a.pdf' }`.
 */
export function parseFingerprints(text: string): NamedFingerprint[] | undefined {
  const whole = parseFingerprint(text)
  if (whole) return [{ sha256: whole, name: undefined }]
  const lines = text.split(/[\r\n]+/).filter(line => line.trim() !== '')
  const found = lines.flatMap(line => parseLine(line) ?? [])
  return found.length > 0 && found.length === lines.length ? found : undefined
}

const listed = /^(?<escaped>\\?)(?<hex>[0-9a-f]{64})(?: [ *]|\s+)(?<name>.+)$/i
const tagged = /^(?<escaped>\\?)SHA(?:2-)?256 ?\((?<name>.+)\) ?= ?(?<hex>[0-9a-f]{64})$/i

function parseLine(line: string): NamedFingerprint | undefined {
  const text = line.trim()
  const parts = (listed.exec(text) ?? tagged.exec(text))?.groups
  if (!parts) {
    const sha256 = parseFingerprint(text)
    return sha256 ? { sha256, name: undefined } : undefined
  }
  const { escaped, hex = '', name = '' } = parts
  return { sha256: hex.toLowerCase(), name: escaped ? unescapeName(name) : name }
}

/**
 * Decodes `\n`, `\r` and `\\` in a file name of a checksum list. `sha256sum` begins a line with a
 * backslash if the name in it is escaped.
 */
function unescapeName(name: string): string {
  const meant: Record<string, string> = { n: '\n', r: '\r', '\\': '\\' }
  return name.replace(/\\([nr\\])/g, (whole, sign: string) => meant[sign] ?? whole)
}
