import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { fromHex, toHex } from '../../../../src/core/bytes.ts'
import {
  appendLeaf,
  emptyTree,
  hashLeaf,
  rootOf,
  type TreeEdge
} from '../../../../src/core/evidence/merkle-tree.ts'

/** The tree by its definition in RFC 6962, section 2.1: split at the largest power of two below n. */
function rootByDefinition(leaves: Buffer[]): Buffer {
  const [only] = leaves
  if (!only) return createHash('sha256').digest()
  if (leaves.length === 1) return createHash('sha256').update('\0').update(only).digest()
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1))
  return createHash('sha256')
    .update('\x01')
    .update(rootByDefinition(leaves.slice(0, split)))
    .update(rootByDefinition(leaves.slice(split)))
    .digest()
}

test('has the root of the definition at every size', () => {
  const leaves: Buffer[] = []
  let edge: TreeEdge = emptyTree
  for (let size = 0; size <= 130; size++) {
    expect(toHex(rootOf(edge))).toBe(rootByDefinition(leaves).toString('hex'))
    expect(edge.size).toBe(size)
    const leaf = Buffer.from(`row ${size}`)
    leaves.push(leaf)
    edge = appendLeaf(edge, hashLeaf(leaf))
  }
})

// the published test data of Certificate Transparency
test('has the published roots', () => {
  const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657']
  const edge = leaves.reduce((tree, leaf) => appendLeaf(tree, hashLeaf(fromHex(leaf))), emptyTree)
  expect(toHex(rootOf(edge))).toBe(
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'
  )
})
