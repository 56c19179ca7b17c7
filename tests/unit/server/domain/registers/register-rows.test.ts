import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { RegisterColumn } from '../../../../../src/contract/registers.ts'
import { toUtf8 } from '../../../../../src/core/bytes.ts'
import { canonicalize } from '../../../../../src/core/evidence/canonical-json.ts'
import { hashLeaf } from '../../../../../src/core/evidence/merkle-tree.ts'
import { commitToRow } from '../../../../../src/core/evidence/register-row.ts'
import {
  cellNamesOf,
  openRow,
  sealRow,
  tagOfReference
} from '../../../../../src/server/domain/registers/register-rows.ts'

const keys = { lookup: createSecretKey(randomBytes(32)), data: createSecretKey(randomBytes(32)) }
const place = { company_id: 'company', source_id: 'source', register_id: 'register', segment: 3 }
const cells = { Number: 'D-1', Degree: 'Été', __proto__: 'x' }

test('a sealed row opens in its place alone', () => {
  const tag = tagOfReference(keys.lookup, 'source', 'D-1', ['Vale'])
  const { row_hash, sealed } = sealRow(keys, place, { tag, cells, random: randomBytes })
  const opened = openRow(keys, place, { tag, sealed })
  expect(opened.cells).toEqual(cells)
  const { register_id: register, segment } = place
  const row = { register, segment, salt: opened.salt, cells: toUtf8(canonicalize(cells)) }
  expect(row_hash).toEqual(hashLeaf(commitToRow(row)))
  const otherTag = tagOfReference(keys.lookup, 'source', 'D-2', ['Vale'])
  for (const other of [{ company_id: 'other' }, { source_id: 'other' }, { segment: 4 }])
    expect(() => openRow(keys, { ...place, ...other }, { tag, sealed })).toThrow()
  expect(() => openRow(keys, place, { tag: otherTag, sealed })).toThrow()
  sealed[20] = (sealed[20] ?? 0) ^ 1
  expect(() => openRow(keys, place, { tag, sealed })).toThrow()
})

test('equal rows have equal contents and different leaves', () => {
  const tag = tagOfReference(keys.lookup, 'source', 'D-1', [])
  const sealed = (source_id: string, of: typeof cells) =>
    sealRow(keys, { ...place, source_id }, { tag, cells: of, random: randomBytes })
  const one = sealed('source', cells)
  const other = sealed('source', { ...cells })
  expect(other.row_hash).not.toEqual(one.row_hash)
  expect(other.content).toEqual(one.content)
  expect(one.content).toHaveLength(16)
  expect(sealed('other', cells).content).not.toEqual(one.content)
  expect(sealed('source', { ...cells, Degree: 'x' }).content).not.toEqual(one.content)
})

test('a tag depends on register, reference and check values, not on case and accents', () => {
  const tag = tagOfReference(keys.lookup, 'source', 'D-1', ['Élodie', '2001-02-03'])
  expect(tagOfReference(keys.lookup, 'source', ' d-1', ['elodie', '2001-02-03'])).toEqual(tag)
  for (const [source, reference, checks] of [
    ['other', 'D-1', ['Élodie', '2001-02-03']],
    ['source', 'D-2', ['Élodie', '2001-02-03']],
    ['source', 'D-1', ['Élodie', '2001-02-04']],
    ['source', 'D-1', ['Élodie']],
    ['source', 'D-1', ['2001-02-03', 'Élodie']]
  ] as const)
    expect(tagOfReference(keys.lookup, source, reference, checks)).not.toEqual(tag)
})

test('the key and shown columns have different names', () => {
  const column = (index: number, header: string, use: RegisterColumn['use'], shown: boolean) => ({
    ...{ index, header, use, shown },
    labels: { en: header, fr: header }
  })
  const names = cellNamesOf([
    column(7, 'Name', 'check', true),
    column(2, 'Name', 'reference', true),
    column(3, 'Secret', 'check', false),
    column(5, 'Name (2)', 'shown', true),
    column(8, '', 'shown', true)
  ])
  expect([...names]).toEqual([
    [2, 'Name'],
    [5, 'Name (2)'],
    [7, 'Name (3)'],
    [8, '']
  ])
})
