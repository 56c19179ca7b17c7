import { type Bytes, toBase64Url, toUtf8 } from '../bytes.ts'
import { canonicalize, parseCanonicalJson } from './canonical-json.ts'
import { type CommitmentOpening, createCommitment } from './commitments.ts'
import { isDigest, isRecordId, isTimestamp } from './formats.ts'
import { hashLeaf } from './merkle-tree.ts'

/** A leaf has a commitment for each field, even without a value, so that all are equally long. */
export const depositFields = [
  'actor',
  'bytes',
  'category',
  'expires',
  'media',
  'name',
  'orig',
  'sig',
  'stored',
  'time',
  'transform',
  'visibility'
] as const
export type DepositField = (typeof depositFields)[number]

export type DepositLeafInput = {
  origin: string
  // random: a sequential id would reveal the time of the deposit
  id: string
  values: Record<DepositField, string>
  /**
   * 32 bytes each. Those of `orig` and `stored` come from `deriveLinkSalts()`; others are random.
   */
  salts: Record<DepositField, Uint8Array>
}

export type DepositLeafWithOpenings = {
  /** 718 bytes of canonical JSON, safe to publish. */
  leaf: string
  hash: Bytes
  /** Whoever has them can check the commitments. The server stores them encrypted. */
  openings: Record<DepositField, CommitmentOpening>
}

// tlog-tiles puts a leaf's length into 16 bits.
const maxLeafBytes = 65_535

/** Builds the entry of the log that commits to a deposit. Throws if a value has another format. */
export function buildDepositLeaf({
  origin,
  id,
  values,
  salts
}: DepositLeafInput): DepositLeafWithOpenings {
  if (!isRecordId(id)) throw new Error('leaf: not a record id')
  for (const field of depositFields)
    if (!isDepositFieldValue(field, values[field])) throw new Error(`leaf: bad value of "${field}"`)
  const commitments = eachField(name =>
    createCommitment({ origin, id, name, salt: salts[name], value: values[name] })
  )
  const leaf = canonicalize({ c: commitments, id, type: 'deposit', v: 1 })
  const openings = eachField(name => ({
    salt: toBase64Url(salts[name]),
    value: values[name]
  }))
  return { leaf, hash: leafHash(leaf), openings }
}

export function leafHash(leaf: string): Bytes {
  const bytes = toUtf8(leaf)
  if (bytes.length > maxLeafBytes) throw new Error('leaf: longer than 65,535 bytes')
  return hashLeaf(bytes)
}

/** `account` is a random reference to the account, `username` the name at the deposit's time. */
export function formatActorField(account: string, username: string): string {
  if (!isRecordId(account)) throw new Error('leaf: not an account reference')
  return canonicalize({ account, label: username })
}

function eachField<T>(make: (field: DepositField) => T): Record<DepositField, T> {
  const entries = depositFields.map(field => [field, make(field)])
  // as: Object.fromEntries loses the names, and the list above is complete
  return Object.fromEntries(entries) as Record<DepositField, T>
}

export function isDepositFieldValue(field: DepositField, value: string): boolean {
  switch (field) {
    case 'orig':
      return isDigest(value)
    case 'stored':
      return value === '' || isDigest(value)
    case 'bytes':
      return /^(?:0|[1-9][0-9]*)$/.test(value)
    case 'name':
      return isLine(value, 1020)
    case 'category':
      return isLine(value, 255)
    case 'media':
      return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(value)
    case 'time':
      return isTimestamp(value)
    case 'expires':
      return value === '' || isTimestamp(value)
    case 'visibility':
      return value === 'public' || value === 'receipt_only' || value === 'private'
    case 'actor':
      return isCanonicalObject(value)
    case 'transform':
      return value === '' || isCanonicalObject(value)
    case 'sig':
      return value === ''
  }
}

function isLine(text: string, maxBytes: number): boolean {
  return text === text.normalize('NFC') && !/\p{Cc}/u.test(text) && toUtf8(text).length <= maxBytes
}

function isCanonicalObject(text: string): boolean {
  try {
    const value = parseCanonicalJson(text)
    return typeof value === 'object' && !Array.isArray(value)
  } catch {
    return false
  }
}
