import { ed25519 } from '@noble/curves/ed25519.js'
import { type Bytes, concatBytes, fromHex, toBase64, toUtf8 } from '../bytes.ts'
import { canonicalize } from './canonical-json.ts'
import { logProofFormat } from './checkpoints.ts'
import { leafHash } from './deposit-leaf.ts'
import { isRecordId } from './formats.ts'
import { parseLogKey } from './leaves.ts'
import { ed25519Type, keyIdOf } from './signed-notes.ts'

export interface PolicyLeafInput {
  id: string
  origin: string
  /** Verifier keys, as people write them. */
  log: string
  answers: string
  platform: string
  /** The last checkpoint of the log that this one succeeds. */
  previous?: { origin: string; size: number; root: Bytes }
}

export interface LogProofInput {
  index: number
  /** From the leaf's sibling up. */
  steps: readonly Bytes[]
  /** The signed checkpoint to which the steps lead. */
  note: string
  /** Data that no signature covers. */
  extra?: Bytes
}

/** `seed` is the secret key of RFC 8032: 32 random bytes. */
export function publicKeyOf(seed: Uint8Array): Bytes {
  return ed25519.getPublicKey(seed)
}

/** Returns what people write: `<name>+<key id>+<base64 of type and key>` */
export function verifierKeyOf(name: string, publicKey: Uint8Array): string {
  const typeAndKey = concatBytes(Uint8Array.of(ed25519Type), publicKey)
  return `${name}+${keyIdOf(name, typeAndKey)}+${toBase64(typeAndKey)}`
}

/** Returns what a log signs (C2SP tlog-checkpoint). */
export function checkpointText({
  origin,
  size,
  root
}: {
  origin: string
  size: number
  root: Bytes
}): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/** Returns the text with the signature under it (C2SP signed-note). */
export function signNote(text: string, { name, seed }: { name: string; seed: Uint8Array }): string {
  if (!text.endsWith('\n')) throw new Error('note: the text ends with a line feed')
  const typeAndKey = concatBytes(Uint8Array.of(ed25519Type), publicKeyOf(seed))
  const signature = ed25519.sign(toUtf8(text), seed)
  const encoded = toBase64(concatBytes(fromHex(keyIdOf(name, typeAndKey)), signature))
  return `${text}\n\u2014 ${name} ${encoded}\n`
}

/** Returns the path from a leaf to a checkpoint (C2SP tlog-proof). */
export function formatLogProof({ index, steps, note, extra }: LogProofInput): string {
  const lines = [
    logProofFormat,
    ...(extra ? [`extra ${toBase64(extra)}`] : []),
    `index ${index}`,
    ...steps.map(toBase64)
  ]
  return `${lines.join('\n')}\n\n${note}`
}

/** Builds the leaf that names the keys of a log. Throws if the log has a key of another name. */
export function buildPolicyLeaf({ previous, ...input }: PolicyLeafInput): {
  leaf: string
  hash: Bytes
} {
  const { id, origin, log, answers, platform } = input
  if (!isRecordId(id)) throw new Error('leaf: not a leaf id')
  parseLogKey(log, origin)
  const leaf = canonicalize({
    answers,
    id,
    log,
    origin,
    platform,
    ...(previous && {
      previous: { origin: previous.origin, root: toBase64(previous.root), size: previous.size }
    }),
    type: 'policy',
    v: 1
  })
  return { leaf, hash: leafHash(leaf) }
}
