import { fromBase64Url, toHex } from '../bytes.ts'

/**
 * A SHA-256 that a person pasted, as 64 lower-case hex digits. `name` is the file name that stands
 * beside it in the pasted text, or undefined if there is none.
 */
export interface NamedFingerprint {
  sha256: string
  name: string | undefined
}

/** A line of pasted text with a digest that is not a SHA-256. */
export interface OtherDigest {
  /** Number of the line; the first line is 1. */
  line: number
  /** Name of the algorithm, as far as the line or the length of the digest tells it. */
  algorithm: string | undefined
  /** Number of hex digits. */
  digits: number
}

/** What a pasted text contains. */
export interface PastedFingerprints {
  found: NamedFingerprint[]
  others: OtherDigest[]
  /** Numbers of the lines that have no digest and are not blank. */
  skipped: number[]
}

/**
 * Finds the fingerprints in whatever text a person pastes: a fingerprint in hex or base64, a
 * checksum list, or what `certutil`, `Get-FileHash` or OpenSSL print. Lines without a SHA-256 do
 * not hinder the others.
 */
export function findFingerprints(text: string): PastedFingerprints {
  // a colon or backslash at the end says that the digest goes on in the next line
  const clean = text
    .slice(0, maxLength)
    .replace(invisible, '')
    .replace(/[^\S\r\n\t]/g, ' ')
    .replace(/(?<=[0-9a-f]{2})([:\\])[ \t]*\r?\n[ \t]*(?=[0-9a-f]{2}[:\s])/gi, '$1')
  const found = findInLines(clean)
  const isNamed = found.others.some(({ algorithm }) => algorithm !== undefined)
  if (found.found.length > 0 || isNamed) return found
  // one fingerprint may be broken over several lines
  for (const between of ['', ' ']) {
    const joined = clean.replace(/(?<=[0-9a-f])\s+(?=[0-9a-f])/gi, blanks =>
      /[\r\n]/.test(blanks) ? between : blanks
    )
    const broken = findInLines(joined.replace(/[\r\n]+/g, ' '))
    if (broken.found.length > 0) return { ...broken, skipped: [] }
  }
  return found
}

/** Far more than the longest list that one verification takes. */
const maxLength = 500_000

/** Marks that are not seen and come along when text is copied: joiners, soft hyphens, a BOM. */
const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

function findInLines(text: string): PastedFingerprints {
  const all: PastedFingerprints = { found: [], others: [], skipped: [] }
  for (const [index, raw] of text.split(/\r\n|[\r\n]/).entries()) {
    const line = raw.trim()
    if (line === '') continue
    const read = readLine(line)
    if (read.length === 0) all.skipped.push(index + 1)
    for (const each of read) {
      if ('sha256' in each) all.found.push(each)
      else all.others.push({ ...each, line: index + 1 })
    }
  }
  return all
}

type Digest = NamedFingerprint | Omit<OtherDigest, 'line'>

const listed = /^(?<escaped>\\?)(?<hex>[0-9a-f]{64})(?: [ *]|\s+)(?<name>.+)$/i
const tagged = /^(?<escaped>\\?)SHA(?:2-)?256 ?\((?<name>.+)\) ?= ?(?<hex>[0-9a-f]{64})$/i

function readLine(line: string): Digest[] {
  const parts = (listed.exec(line) ?? tagged.exec(line))?.groups
  if (parts) {
    const { escaped, hex = '', name = '' } = parts
    return [{ sha256: hex.toLowerCase(), name: escaped ? unescapeName(name) : name }]
  }
  const whole = readBase64(line) ?? readGroups(line)
  if (whole) return [{ sha256: whole, name: undefined }]
  const digests = findDigests(line)
  const [only] = digests
  if (!only || digests.length > 1) return digests.map(({ digest }) => digest)
  const { digest, at, end } = only
  return 'sha256' in digest
    ? [{ ...digest, name: nameBeside(line.slice(0, at), line.slice(end)) }]
    : [digest]
}

/**
 * Hex digits in pairs with a colon, blank, comma, point or hyphen between them, or in one run. Each
 * pair may begin with `0x` or `\x`.
 */
const digits =
  /(?<![0-9a-z])(?:(?:0x|\\x)?[0-9a-f]{2}(?:[ :.,;-]{1,2}(?:0x|\\x)?[0-9a-f]{2})+|(?:\\x[0-9a-f]{2})+|(?:0x)?[0-9a-f]+)(?![0-9a-z])/gi
/** No digest has fewer digits. Also shorter words consist of the digits from 0 to f. */
const leastDigits = 32

function findDigests(line: string): { digest: Digest; at: number; end: number }[] {
  return [...line.matchAll(digits)].flatMap(({ 0: text, index: at }) => {
    const hex = text.replace(/0x|[^0-9a-f]/gi, '').toLowerCase()
    if (hex.length < leastDigits) return []
    const algorithm =
      otherAlgorithm(line.slice(Math.max(0, at - 300), at)) ?? algorithms[hex.length]
    const digest: Digest =
      algorithm === 'SHA-256' ? { sha256: hex, name: undefined } : { algorithm, digits: hex.length }
    return [{ digest, at, end: at + text.length }]
  })
}

const algorithms: Record<number, string | undefined> = {
  32: 'MD5',
  40: 'SHA-1',
  56: 'SHA-224',
  64: 'SHA-256',
  96: 'SHA-384',
  128: 'SHA-512'
}

const algorithmNames =
  /(?<![0-9a-z])(?:MD5|SHA-?1|SHA3-\d{3}|SHA-?512\/256|SHA-?(?:224|384|512)|BLAKE\w*|RIPEMD-?\d*|SM3)/gi

/** Returns the algorithm that the words before a digest name, unless it is SHA-256 or unknown. */
function otherAlgorithm(before: string): string | undefined {
  const named = [...before.matchAll(algorithmNames)].find(({ 0: name, index }) =>
    /^(?: ?\(.*\))?[\s:="'|]*$/.test(before.slice(index + name.length))
  )
  return named?.[0].toUpperCase().replace(/^SHA-?(?=[1-9])(?!3-)/, 'SHA-')
}

/** Reads hex digits in equal groups: `1176 1331 …`, `sha256: 1176-1331-…` */
function readGroups(line: string): string | undefined {
  const groups = [
    ...line.matchAll(/(?<![0-9a-z])[0-9a-f]+(?:[ :._-]{1,2}[0-9a-f]+){3,15}(?![0-9a-z])/gi)
  ]
  const hex = groups.map(([text]) => text.replace(/[^0-9a-f]/gi, ''))
  const sizes = groups.map(
    ([text]) => new Set(text.match(/[0-9a-f]+/gi)?.map(({ length }) => length))
  )
  const at = hex.findIndex(({ length }, index) => length === 64 && sizes[index]?.size === 1)
  return hex[at]?.toLowerCase()
}

const prefix = /^["'<]?sha-?256\W{1,3}/i

/** Reads a line that is a digest in base64, or has one after `sha256-`, `SHA-256=` or the like. */
function readBase64(line: string): string | undefined {
  const pattern = /(?:^|sha-?256\W{1,3})([\w+/-]{43})=?(?=$|[\s"':;,>])/i
  const body = pattern.exec(line.replace(/\s+/g, ' '))?.[1]
  const isWhole = body !== undefined && (prefix.test(line) || line.replace(/=$/, '') === body)
  if (!body || !(isWhole || /sha-?256\W{1,3}[\w+/-]{43}/i.test(line))) return undefined
  try {
    return toHex(fromBase64Url(body.replaceAll('+', '-').replaceAll('/', '_')))
  } catch {
    return undefined // more than 32 bytes: the copy is damaged
  }
}

/** Returns the file name after a digest in its line, or in the column before it. */
function nameBeside(before: string, after: string): string | undefined {
  const isUnfinished = /^[\s"',;|)\]}>`*]*$/.test(after)
  const name = isUnfinished ? before.split(/[\t,;|]|: /).findLast(cell => /\w/.test(cell)) : after
  const [bare] = /[^\s"',;|*`=:)\]}>](?:.*[^\s"',;|`=:])?/.exec(name ?? '') ?? []
  const isFile = bare !== undefined && /^[^{}<>]+\.\w{1,8}$/.test(bare) && !/sha-?256/i.test(bare)
  return isFile ? bare : undefined
}

/**
 * Decodes `\n`, `\r` and `\\` in a file name of a checksum list. `sha256sum` begins a line with a
 * backslash if the name in it is escaped.
 */
function unescapeName(name: string): string {
  const meant: Record<string, string> = { n: '\n', r: '\r', '\\': '\\' }
  return name.replace(/\\([nr\\])/g, (whole, sign: string) => meant[sign] ?? whole)
}
