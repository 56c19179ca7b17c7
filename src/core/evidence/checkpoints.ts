import { type Bytes, fromBase64 } from '../bytes.ts'
import { maxProofSteps } from './merkle-proofs.ts'
import { parseSignedNote, type SignedNote } from './signed-notes.ts'

/** What a log signs: its root at a size (C2SP tlog-checkpoint). */
export interface Checkpoint {
  origin: string
  size: bigint
  root: Bytes
  note: SignedNote
}

/** The path from a leaf to a checkpoint (C2SP tlog-proof). Nothing in it is verified. */
export interface LogProof {
  /** Data that no signature covers. */
  extra?: Bytes
  index: bigint
  steps: Bytes[]
  checkpoint: Checkpoint
}

/** The first line of a proof. */
export const logProofFormat = 'c2sp.org/tlog-proof@v1'
const maxNumber = 2n ** 63n - 1n

/** Throws if the text is not a checkpoint of exactly three lines. Signatures are not verified. */
export function parseCheckpoint(text: string): Checkpoint {
  const note = parseSignedNote(text)
  const [origin = '', size = '', root = '', ...others] = note.text.slice(0, -1).split('\n')
  if (origin === '' || others.length > 0) throw new Error('checkpoint: not three lines')
  return { origin, size: parseNumber(size), root: parseHash(root), note }
}

/** Throws if the text is not a proof. Neither hashes nor signatures are verified. */
export function parseLogProof(text: string): LogProof {
  const end = text.indexOf('\n\n')
  const [first, ...lines] = text.slice(0, Math.max(0, end)).split('\n', maxProofSteps + 4)
  if (first !== logProofFormat) throw new Error(`proof: the first line is not ${logProofFormat}`)
  const extra = lines[0]?.startsWith('extra ') ? lines.shift()?.slice(6) : undefined
  const index = lines.shift()
  if (!index?.startsWith('index ')) throw new Error('proof: no index')
  if (lines.length > maxProofSteps) throw new Error('proof: too many steps')
  return {
    ...(extra !== undefined && { extra: fromBase64(extra) }),
    index: parseNumber(index.slice(6)),
    steps: lines.map(parseHash),
    checkpoint: parseCheckpoint(text.slice(end + 2))
  }
}

function parseNumber(text: string): bigint {
  const value = /^(?:0|[1-9][0-9]{0,18})$/.test(text) ? BigInt(text) : maxNumber + 1n
  if (value > maxNumber) throw new Error('checkpoint: not a decimal number below 2^63')
  return value
}

function parseHash(text: string): Bytes {
  const hash = fromBase64(text)
  if (hash.length !== 32) throw new Error('checkpoint: a hash has 32 bytes')
  return hash
}
