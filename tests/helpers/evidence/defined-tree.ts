import { sha256 } from './evidence-log.ts'

/** A tree by the definitions of RFC 6962, section 2.1, hashed with OpenSSL. */
export interface DefinedTree {
  leafHashes: readonly Buffer[]
  /** The root of the leaves from `from` on, without the one at `to`. */
  root(from: number, to: number): Buffer
  /** Section 2.1.1. */
  path(index: number, size: number): Buffer[]
  /** Section 2.1.2. */
  consistency(size1: number, size2: number): Buffer[]
}

/** A tree of the texts `leaf 0`, `leaf 1` and so on. */
export function defineTree(size: number): DefinedTree {
  const leafHashes = Array.from({ length: size }, (_, i) => sha256('\0', `leaf ${i}`))
  const known = new Map<number, Buffer>()

  function root(from: number, to: number): Buffer {
    if (from === to) return sha256()
    const key = from * 2 ** 17 + to
    const found = to - from === 1 ? leafHashes[from] : known.get(key)
    if (found) return found
    const split = from + splitOf(to - from)
    const hash = sha256('\x01', root(from, split), root(split, to))
    known.set(key, hash)
    return hash
  }

  function path(index: number, from: number, to: number): Buffer[] {
    if (to - from === 1) return []
    const split = from + splitOf(to - from)
    return index < split
      ? [...path(index, from, split), root(split, to)]
      : [...path(index, split, to), root(from, split)]
  }

  function consistency(old: number, from: number, to: number, isWhole = true): Buffer[] {
    if (old === to - from) return isWhole ? [] : [root(from, to)]
    const split = from + splitOf(to - from)
    return old <= split - from
      ? [...consistency(old, from, split, isWhole), root(split, to)]
      : [...consistency(old - (split - from), split, to, false), root(from, split)]
  }

  return {
    leafHashes,
    root,
    path: (index, to) => path(index, 0, to),
    consistency: (size1, size2) => consistency(size1, 0, size2)
  }
}

function splitOf(size: number): number {
  return 2 ** Math.floor(Math.log2(size - 1))
}
