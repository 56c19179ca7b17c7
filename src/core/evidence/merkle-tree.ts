import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concatBytes } from '../bytes.ts'

/**
 * A tree that grows (RFC 6962, section 2.1): the roots of its complete subtrees, largest first.
 * `size` is the number of its leaves, whose bits say how large the subtrees are.
 */
export interface TreeEdge {
  size: number
  hashes: readonly Bytes[]
}

export const emptyTree: TreeEdge = { size: 0, hashes: [] }

export function hashLeaf(leaf: Uint8Array): Bytes {
  return sha256(concatBytes(Uint8Array.of(0), leaf))
}

/** `leafHash` is the result of `hashLeaf`. */
export function appendLeaf({ size, hashes }: TreeEdge, leafHash: Bytes): TreeEdge {
  const grown = [...hashes]
  let hash = leafHash
  // each trailing 1 of the size is a complete subtree that is as large as the new one
  for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2)
    hash = hashChildren(takeFrom(grown), hash)
  return { size: size + 1, hashes: [...grown, hash] }
}

/** The root of a tree without leaves is the hash of nothing. */
export function rootOf({ hashes }: TreeEdge): Bytes {
  const last = hashes.at(-1)
  if (!last) return sha256(new Uint8Array())
  return hashes.slice(0, -1).reduceRight((right, left) => hashChildren(left, right), last)
}

export function hashChildren(left: Uint8Array, right: Uint8Array): Bytes {
  return sha256(concatBytes(Uint8Array.of(1), left, right))
}

function takeFrom(hashes: Bytes[]): Bytes {
  const hash = hashes.pop()
  if (!hash) throw new Error('tree: a subtree is missing')
  return hash
}
