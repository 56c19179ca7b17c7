import { expect, test } from 'vitest'
import { parseCheckpoint, parseLogProof } from '../../../../src/core/evidence/checkpoints.ts'
import { exampleLog, makeKey, noteOf, proofOf } from '../../../helpers/evidence/evidence-log.ts'

const log = exampleLog()
const key = makeKey(log.origin, 1)
const root = 'A0qfIPjCbSiByqeES53BZmQIc6sBKJcb/8jo6brAmH8='
const proof = proofOf(log, 1, 3)

test('reads a checkpoint and a proof', () => {
  const text = `${log.origin}\n3\n${root}\n`
  expect(parseCheckpoint(noteOf(text, [key]))).toMatchObject({ origin: log.origin, size: 3n })
  const read = parseLogProof(proof)
  expect(read).toMatchObject({ index: 1n, checkpoint: { size: 3n } })
  expect(read.steps).toHaveLength(2)
  expect(read).not.toHaveProperty('extra')
  const withExtra = parseLogProof(proof.replace('index 1', 'extra e30=\nindex 1'))
  expect(withExtra.extra).toEqual(Uint8Array.of(0x7b, 0x7d))
  const largest = parseCheckpoint(noteOf(`a\n9223372036854775807\n${root}\n`, [key]))
  expect(largest.size).toBe(2n ** 63n - 1n)
})

test.each([
  ['a leading zero', `a\n03\n${root}\n`],
  ['a sign', `a\n+3\n${root}\n`],
  ['a size of 2^63', `a\n9223372036854775808\n${root}\n`],
  ['a size of many digits', `a\n${'9'.repeat(10_000)}\n${root}\n`],
  ['no size', `a\n\n${root}\n`],
  ['no origin', `\n3\n${root}\n`],
  ['no root', 'a\n3\n'],
  ['a short root', 'a\n3\nAAAA\n'],
  ['a root with bits after its end', `a\n3\n${root.replace('8=', '9=')}\n`],
  ['a fourth line', `a\n3\n${root}\nmore\n`]
])('is no checkpoint with %s', (_, text) => {
  expect(() => parseCheckpoint(noteOf(text, [key]))).toThrow()
})

test.each([
  ['another version', proof.replace('@v1', '@v2')],
  ['a line before', `\n${proof}`],
  ['carriage returns', proof.replaceAll('\n', '\r\n')],
  ['no index', proof.replace('index 1\n', '')],
  ['a leading zero', proof.replace('index 1', 'index 01')],
  ['an index in hex', proof.replace('index 1', 'index 0x1')],
  ['the extra line behind the index', proof.replace('index 1', 'index 1\nextra e30=')],
  ['two extra lines', proof.replace('index 1', 'extra e30=\nextra e30=\nindex 1')],
  ['a step of 31 bytes', proof.replace(/\n[^\n]{44}\n/, `\n${'A'.repeat(40)}AA==\n`)],
  ['64 steps', proof.replace('index 1', `index 1${`\n${root}`.repeat(64)}`)],
  ['100,000 steps', proof.replace('index 1', `index 1${`\n${root}`.repeat(100_000)}`)],
  ['no checkpoint', proof.slice(0, proof.indexOf('\n\n') + 2)],
  ['nothing', '']
])('is no proof with %s', (_, text) => {
  expect(() => parseLogProof(text)).toThrow()
})
