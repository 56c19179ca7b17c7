import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifyConsistency, verifyInclusion } from '../../../../src/core/evidence/merkle-proofs.ts'
import { defineTree } from '../../../helpers/evidence/defined-tree.ts'
import { sha256 } from '../../../helpers/evidence/evidence-log.ts'
import { isJudgedRight, readMerkleVectors } from '../../../helpers/evidence/merkle-vectors.ts'
import { isSoak } from '../../../helpers/soak.ts'

const vectors = readMerkleVectors(join(import.meta.dirname, 'vectors'))

// made in Python; `npm run test:vectors` takes those that transparency-dev/merkle publishes
test('judges each kind of right and wrong proof', () => {
  expect(vectors.filter(({ wantErr }) => !wantErr)).toHaveLength(11)
  expect(vectors.filter(({ wantErr }) => wantErr).length).toBeGreaterThan(170)
  expect(vectors.filter(vector => !isJudgedRight(vector))).toEqual([])
})

describe('against the tree of the definition', () => {
  const sizes = isSoak ? 300 : 66
  const tree = defineTree(65_537)

  const inclusionOf = (index: number, size: number, leaf = index) => ({
    index: BigInt(index),
    size: BigInt(size),
    leafHash: tree.leafHashes[leaf] ?? Buffer.alloc(0),
    root: tree.root(0, size),
    steps: tree.path(index, size)
  })
  const consistencyOf = (size1: number, size2: number) => ({
    size1: BigInt(size1),
    size2: BigInt(size2),
    root1: tree.root(0, size1),
    root2: tree.root(0, size2),
    steps: tree.consistency(size1, size2)
  })

  test('accepts each leaf at its index only, at each size', () => {
    const wrong: string[] = []
    for (let size = 1; size <= sizes; size++) {
      for (let index = 0; index < size; index++) {
        const proof = inclusionOf(index, size)
        const other = BigInt((index + 1) % size)
        const holds = verifyInclusion(proof)
        const holdsElsewhere = size > 1 && verifyInclusion({ ...proof, index: other })
        if (!holds || holdsElsewhere) wrong.push(`${index} of ${size}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('accepts the growth from each size to each other', () => {
    const wrong: string[] = []
    for (let size2 = 1; size2 <= sizes; size2++) {
      for (let size1 = 1; size1 <= size2; size1++) {
        const proof = consistencyOf(size1, size2)
        const holds = verifyConsistency(proof)
        const holdsForOther =
          size1 > 1 && verifyConsistency({ ...proof, root1: tree.root(0, size1 - 1) })
        if (!holds || holdsForOther) wrong.push(`${size1} to ${size2}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test.each([255, 256, 257, 65_535, 65_536, 65_537])('holds at %i leaves', size => {
    for (const index of [0, 1, size >> 1, size - 2, size - 1]) {
      expect(verifyInclusion(inclusionOf(index, size))).toBe(true)
      expect(verifyInclusion(inclusionOf(index, size, (index + 1) % size))).toBe(false)
      expect(verifyConsistency(consistencyOf(index + 1, size))).toBe(true)
    }
  })
})

test('follows paths beyond 2^53, and none of more than 63 steps', () => {
  const [hash, step] = [sha256('leaf'), sha256('step')]
  const steps = Array.from({ length: 63 }, () => step)
  const root = steps.reduce(below => sha256('\x01', step, below), hash)
  const size = 2n ** 63n
  const proof = { index: size - 1n, size, leafHash: hash, root, steps }
  expect(verifyInclusion(proof)).toBe(true)
  expect(verifyInclusion({ ...proof, index: size - 2n })).toBe(false)
  const long = { ...proof, index: 2n * size - 1n, size: 2n * size, steps: [...steps, step] }
  expect(verifyInclusion({ ...long, root: sha256('\x01', step, root) })).toBe(false)
  expect(verifyInclusion({ ...proof, index: -1n })).toBe(false)
})
