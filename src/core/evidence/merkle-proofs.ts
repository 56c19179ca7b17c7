import { areEqualBytes } from '../bytes.ts'
import { hashChildren } from './merkle-tree.ts'

/** Sizes are below 2^63, so no path through a tree is longer. */
export const maxProofSteps = 63

export interface InclusionProof {
  index: bigint
  size: bigint
  leafHash: Uint8Array
  root: Uint8Array
  /** From the leaf's sibling up. */
  steps: readonly Uint8Array[]
}

export interface ConsistencyProof {
  size1: bigint
  size2: bigint
  root1: Uint8Array
  root2: Uint8Array
  steps: readonly Uint8Array[]
}

/** RFC 9162, section 2.1.3.2. An index outside of the tree and hashes of another length fail. */
export function verifyInclusion({ index, size, leafHash, root, steps }: InclusionProof): boolean {
  if (index < 0n || index >= size) return false
  if (!areHashes([leafHash, root, ...steps.slice(0, maxProofSteps + 1)])) return false
  if (steps.length > maxProofSteps) return false
  let [place, last] = [index, size - 1n]
  let hash = leafHash
  for (const step of steps) {
    if (last === 0n) return false
    if (isOdd(place) || place === last) {
      hash = hashChildren(step, hash)
      while (!isOdd(place) && place !== 0n) [place, last] = [place >> 1n, last >> 1n]
    } else {
      hash = hashChildren(hash, step)
    }
    place >>= 1n
    last >>= 1n
  }
  return last === 0n && areEqualBytes(hash, root)
}

/**
 * RFC 9162, section 2.1.4.2. Size 0 fails: whether a tree grew from nothing is a question of the
 * caller. Equal sizes need equal roots and no steps.
 */
export function verifyConsistency({
  size1,
  size2,
  root1,
  root2,
  steps
}: ConsistencyProof): boolean {
  if (size1 <= 0n || size1 > size2) return false
  if (size1 === size2) return steps.length === 0 && areEqualBytes(root1, root2)
  if (steps.length === 0 || steps.length > maxProofSteps || !areHashes(steps)) return false
  let [place, last] = [size1 - 1n, size2 - 1n]
  while (isOdd(place)) [place, last] = [place >> 1n, last >> 1n]
  // a complete subtree is its own first step, and the proof leaves it out
  const [start = root1, ...rest] = place === 0n ? [root1, ...steps] : steps
  let [old, grown] = [start, start]
  for (const step of rest) {
    if (last === 0n) return false
    if (isOdd(place) || place === last) {
      old = hashChildren(step, old)
      grown = hashChildren(step, grown)
      while (!isOdd(place) && place !== 0n) [place, last] = [place >> 1n, last >> 1n]
    } else {
      grown = hashChildren(grown, step)
    }
    place >>= 1n
    last >>= 1n
  }
  return last === 0n && areEqualBytes(old, root1) && areEqualBytes(grown, root2)
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every(hash => hash.length === 32)
}

function isOdd(value: bigint): boolean {
  return (value & 1n) === 1n
}
