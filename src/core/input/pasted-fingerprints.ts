import { fromBase64Url, toHex } from '../bytes.ts'

/** `name` is the file name beside the fingerprint. */
export interface NamedFingerprint {
  sha256: string
  name: string | undefined
}

export interface OtherDigest {
  // from 1
  line: number
  algorithm: string | undefined
  digits: number
}

export interface PastedFingerprints {
  found: NamedFingerprint[]
  others: OtherDigest[]
  // neither digest nor blank
  skipped: number[]
}

/**
 * Reads hex or base64, checksum lists, and what `certutil`, `Get-FileHash` and OpenSSL print. Lines
 * without a SHA-256 do not hinder the others.
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

// far more than one verification takes
const maxLength = 500_000

// come along when text is copied: joiners, soft hyphens, a BOM
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

// in one run, or in pairs with a colon, blank, comma, point or hyphen between
const digits =
  /(?<![0-9a-z])(?:(?:0x|\\x)?[0-9a-f]{2}(?:[ :.,;-]{1,2}(?:0x|\\x)?[0-9a-f]{2})+|(?:\\x[0-9a-f]{2})+|(?:0x)?[0-9a-f]+)(?![0-9a-z])/gi
// no digest has fewer; shorter words also consist of 0 to f
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

function otherAlgorithm(before: string): string | undefined {
  const named = [...before.matchAll(algorithmNames)].find(({ 0: name, index }) =>
    /^(?: ?\(.*\))?[\s:="'|]*$/.test(before.slice(index + name.length))
  )
  return named?.[0].toUpperCase().replace(/^SHA-?(?=[1-9])(?!3-)/, 'SHA-')
}

// `1176 1331 …`, `sha256: 1176-1331-…`
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

// bare, or after `sha256-`, `SHA-256=` or the like
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

function nameBeside(before: string, after: string): string | undefined {
  const isUnfinished = /^[\s"',;|)\]}>`*]*$/.test(after)
  const name = isUnfinished ? before.split(/[\t,;|]|: /).findLast(cell => /\w/.test(cell)) : after
  const [bare] = /[^\s"',;|*`=:)\]}>](?:.*[^\s"',;|`=:])?/.exec(name ?? '') ?? []
  const isFile = bare !== undefined && /^[^{}<>]+\.\w{1,8}$/.test(bare) && !/sha-?256/i.test(bare)
  return isFile ? bare : undefined
}

// `sha256sum` begins a line with a backslash if the name in it is escaped
function unescapeName(name: string): string {
  const meant: Record<string, string> = { n: '\n', r: '\r', '\\': '\\' }
  return name.replace(/\\([nr\\])/g, (whole, sign: string) => meant[sign] ?? whole)
}
