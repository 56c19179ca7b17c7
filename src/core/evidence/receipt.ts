import { fromUtf8 } from '../bytes.ts'
import { canonicalize, type Json, parseStrictJson } from './canonical-json.ts'
import type { CommitmentOpening } from './commitments.ts'
import { membersOf, parseLogKey } from './leaves.ts'
import type { VerifierKey } from './signed-notes.ts'

/** A receipt as it is written. Nothing in it is verified. */
export interface Receipt {
  origin: string
  key: VerifierKey
  leaf: string
  /** Each is an object with a salt and a value, if it is one of a field that we know. */
  open: Map<string, Json>
  proof: string
  keys: LeafWithProof[]
}

export interface LeafWithProof {
  leaf: string
  proof: string
}

/** What a receipt is made of. */
export interface ReceiptInput {
  log: { name: string; origin: string; vkey: string }
  leaf: string
  open: Record<string, CommitmentOpening>
  proof: string
  /** The policies of the log, oldest first. */
  keys: LeafWithProof[]
}

const format = 'vidimus/receipt@v1'
const maxBytes = 256 * 1024
// a key for each of 64 rotations; each costs two signatures or more to check
const maxKeys = 64

/** Throws if the bytes are not a receipt. Returns undefined if they are one of another version. */
export function parseReceipt(bytes: Uint8Array): Receipt | undefined {
  if (bytes.length > maxBytes) throw new Error('receipt: longer than 256 KiB')
  const receipt = membersOf(parseStrictJson(fromUtf8(bytes)))
  const given = textOf(receipt.get('format'))
  if (given.startsWith('vidimus/receipt@') && given !== format) return undefined
  if (given !== format) throw new Error('receipt: another format')
  const log = membersOf(receipt.get('log'))
  const origin = textOf(log.get('origin'))
  // it is shown to people: no control characters, nothing that looks like another host
  if (!/^[!-*,-~]{1,300}$/.test(origin)) throw new Error('receipt: not an origin')
  return {
    origin,
    key: parseLogKey(textOf(log.get('vkey')), origin),
    leaf: textOf(receipt.get('leaf')),
    open: membersOf(receipt.get('open')),
    proof: textOf(receipt.get('proof')),
    keys: keysOf(receipt.get('keys'))
  }
}

/** Returns the text of the file. The order of the members is always the same. */
export function formatReceipt({ log, leaf, open, proof, keys }: ReceiptInput): string {
  const members = keys.map(key => ({ leaf: key.leaf, proof: key.proof }))
  return `${canonicalize({ format, keys: members, leaf, log, open, proof, timestamps: [] })}\n`
}

function keysOf(value: Json | undefined): LeafWithProof[] {
  if (!Array.isArray(value) || value.length > maxKeys) throw new Error('receipt: no list of keys')
  return value.map(each => {
    const entry = membersOf(each)
    return { leaf: textOf(entry.get('leaf')), proof: textOf(entry.get('proof')) }
  })
}

function textOf(value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error('receipt: a text is missing')
  return value
}
