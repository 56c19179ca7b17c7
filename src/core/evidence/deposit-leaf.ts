import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concat, toBase64Url, toUtf8 } from '../bytes.ts'
import { canonicalise, parseCanonical } from './canonical-json.ts'
import { commit, type Opening } from './commitments.ts'
import { isDigest, isRecordId, isTime } from './formats.ts'

/** Every field of every deposit leaf: an absent value is an empty text, so that a leaf's length says nothing. */
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
  /** 22 characters, random: an ordered id would publish the time. */
  id: string
  values: Record<DepositField, string>
  /** 32 random bytes each, but `linkSalts()` for `orig` and `stored`. */
  salts: Record<DepositField, Uint8Array>
}

export type DepositLeaf = {
  /** 718 bytes of canonical JSON, safe to publish. */
  leaf: string
  hash: Bytes
  /** What a receipt holds; destroyed when the deposit is erased. */
  openings: Record<DepositField, Opening>
}

// tlog-tiles puts a leaf's length into 16 bits.
const maxLeafBytes = 65_535

/** Throws when a value is not in the one spelling its field allows. */
export function buildDepositLeaf({ origin, id, values, salts }: DepositLeafInput): DepositLeaf {
  if (!isRecordId(id)) throw new Error('leaf: not a record id')
  for (const field of depositFields)
    if (!isFieldValue(field, values[field])) throw new Error(`leaf: bad value of "${field}"`)
  const commitments = eachField(name =>
    commit({ origin, id, name, salt: salts[name], value: values[name] })
  )
  const leaf = canonicalise({ c: commitments, id, type: 'deposit', v: 1 })
  const openings = eachField(name => ({
    salt: toBase64Url(salts[name]),
    value: values[name]
  }))
  return { leaf, hash: leafHash(leaf), openings }
}

/** RFC 6962 §2.1: SHA-256 of a zero byte and the leaf. */
export function leafHash(leaf: string): Bytes {
  const bytes = toUtf8(leaf)
  if (bytes.length > maxLeafBytes) throw new Error('leaf: longer than 65,535 bytes')
  return sha256(concat(Uint8Array.of(0), bytes))
}

/** `actor` names a person by a random account reference and the name shown that day. */
export function formatActor(account: string, label: string): string {
  if (!isRecordId(account)) throw new Error('leaf: not an account reference')
  return canonicalise({ account, label })
}

function eachField<T>(make: (field: DepositField) => T): Record<DepositField, T> {
  const entries = depositFields.map(field => [field, make(field)])
  // Object.fromEntries forgets the names; the list above is complete.
  return Object.fromEntries(entries) as Record<DepositField, T>
}

/** Whether a value is in the one spelling that its field allows. */
export function isFieldValue(field: DepositField, value: string): boolean {
  switch (field) {
    case 'orig':
      return isDigest(value)
    case 'stored':
      return value === '' || isDigest(value)
    case 'bytes':
      return /^(?:0|[1-9][0-9]*)$/.test(value)
    case 'name':
    case 'category':
      return isShortText(value)
    case 'media':
      return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(value)
    case 'time':
      return isTime(value)
    case 'expires':
      return value === '' || isTime(value)
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

function isShortText(text: string): boolean {
  return text === text.normalize('NFC') && !/\p{Cc}/u.test(text) && toUtf8(text).length <= 255
}

function isCanonicalObject(text: string): boolean {
  try {
    const value = parseCanonical(text)
    return typeof value === 'object' && !Array.isArray(value)
  } catch {
    return false
  }
}
