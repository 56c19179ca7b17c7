import { areEqualBytes, type Bytes } from '../bytes.ts'
import { type Checkpoint, parseLogProof } from './checkpoints.ts'
import { parseLeaf } from './leaves.ts'
import type { LogPolicy } from './log-policy.ts'
import { verifyInclusion } from './merkle-proofs.ts'
import type { Receipt } from './receipt.ts'
import { findSigners, type VerifierKey } from './signed-notes.ts'

export type BrokenReason = 'receipt_altered' | 'proof_invalid' | 'signature_invalid'

/** `log_broken`: a log that the reader trusts signed two roots for one size. */
export type MembershipFailure = BrokenReason | 'unknown_version' | 'log_broken'

/** Where a log has the leaf of a receipt. */
export interface LogPlace {
  index: bigint
  checkpoint: Checkpoint
}

export interface Issuer {
  isPinned: boolean
  /** The key that signed: one that the reader trusts, if there is one, else that of the receipt. */
  key: VerifierKey
}

interface SignedTree {
  checkpoint: Checkpoint
  isTrusted: boolean
}

/** Returns the keys that the reader trusts for this origin. */
export function pinnedKeys(policies: readonly LogPolicy[], origin: string): VerifierKey[] {
  return policies
    .filter(({ quorum }) => quorum === 'none')
    .flatMap(({ logs }) => logs.filter(({ name }) => name === origin))
}

/** Returns undefined if the proof does not lead from the leaf to a checkpoint of this origin. */
export function findPlace(proof: string, origin: string, leafHash: Bytes): LogPlace | undefined {
  const parsed = attempt(() => parseLogProof(proof))
  if (!parsed || parsed.extra || parsed.checkpoint.origin !== origin) return undefined
  const { index, steps, checkpoint } = parsed
  const { size, root } = checkpoint
  const isIncluded = verifyInclusion({ index, size, leafHash, root, steps })
  return isIncluded ? { index, checkpoint } : undefined
}

/** Whether the key has signed, and no signature of it or of the others is wrong. */
export function hasSigned(
  { note }: Checkpoint,
  key: VerifierKey,
  others: readonly VerifierKey[]
): boolean {
  return attempt(() => findSigners(note, [key, ...others]))?.includes(key) ?? false
}

/**
 * Follows the keys of the log from those that the reader trusts to those that signed the checkpoint.
 * `hasSigned` holds for the checkpoint, the key of the receipt and the trusted keys.
 */
export function findIssuer(
  receipt: Receipt,
  checkpoint: Checkpoint,
  pinned: readonly VerifierKey[]
): Issuer | MembershipFailure {
  const trusted = [...pinned]
  const trees: SignedTree[] = []
  for (const { leaf: text, proof } of receipt.keys) {
    const leaf = attempt(() => parseLeaf(text))
    if (leaf?.type === 'unknown') return 'unknown_version'
    if (leaf?.type !== 'policy' || leaf.origin !== receipt.origin) return 'receipt_altered'
    const place = findPlace(proof, receipt.origin, leaf.hash)
    if (!place) return 'proof_invalid'
    if (!hasSigned(place.checkpoint, leaf.key, trusted)) return 'signature_invalid'
    const isTrusted = findSigners(place.checkpoint.note, trusted).length > 0
    if (isTrusted) trusted.push(leaf.key)
    trees.push({ checkpoint: place.checkpoint, isTrusted })
  }
  const signers = attempt(() => findSigners(checkpoint.note, trusted))
  if (!signers) return 'signature_invalid'
  const [key = receipt.key] = signers
  const isPinned = signers.length > 0
  return contradictionOf([...trees, { checkpoint, isTrusted: isPinned }]) ?? { isPinned, key }
}

/** Returns undefined if the function throws. */
export function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

// Only who signed both roots contradicts himself. Others may have made the receipt to accuse him.
function contradictionOf(trees: readonly SignedTree[]): MembershipFailure | undefined {
  const pairs = trees.flatMap((one, i) => trees.slice(i + 1).map(other => [one, other] as const))
  const unequal = pairs.filter(
    ([{ checkpoint: one }, { checkpoint: other }]) =>
      one.size === other.size && !areEqualBytes(one.root, other.root)
  )
  if (unequal.length === 0) return undefined
  const isTrusted = unequal.some(pair => pair.every(tree => tree.isTrusted))
  return isTrusted ? 'log_broken' : 'proof_invalid'
}
