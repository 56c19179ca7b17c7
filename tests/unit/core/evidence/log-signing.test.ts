import { expect, test } from 'vitest'
import { type Bytes, toBase64, toBase64Url, toUtf8 } from '../../../../src/core/bytes.ts'
import { parseCheckpoint, parseLogProof } from '../../../../src/core/evidence/checkpoints.ts'
import { deriveLinkSalts } from '../../../../src/core/evidence/commitments.ts'
import { parseLeaf } from '../../../../src/core/evidence/leaves.ts'
import {
  buildPolicyLeaf,
  checkpointText,
  formatLogProof,
  publicKeyOf,
  signNote,
  verifierKeyOf
} from '../../../../src/core/evidence/log-signing.ts'
import { hashLeaf } from '../../../../src/core/evidence/merkle-tree.ts'
import { formatReceipt, parseReceipt } from '../../../../src/core/evidence/receipt.ts'
import { findSigners, parseVerifierKey } from '../../../../src/core/evidence/signed-notes.ts'
import { growTiles, inclusionSteps } from '../../../../src/core/evidence/tiles.ts'
import { exampleLog, makeKey, noteOf, proofOf } from '../../../helpers/evidence/evidence-log.ts'
import {
  countingBytes,
  leaf as deposit,
  exampleSalt,
  exampleValues,
  linkKey,
  origin,
  receipt
} from './vectors.ts'

const seeds = { log: seedOf(1), answers: seedOf(2), platform: seedOf(3) }
const keys = {
  log: verifierKeyOf(origin, publicKeyOf(seeds.log)),
  answers: verifierKeyOf(`${origin}/answers`, publicKeyOf(seeds.answers)),
  platform: verifierKeyOf('vidimus.example/platform-log', publicKeyOf(seeds.platform))
}
const policy = buildPolicyLeaf({
  id: toBase64Url(countingBytes(0x10).slice(0, 16)),
  origin,
  ...keys
})

test('keys have the published texts', () => {
  expect(keys).toEqual({
    log: 'verify.acme.example/log+39facba6+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c',
    answers:
      'verify.acme.example/log/answers+f48cd5ba+AYE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU',
    platform: 'vidimus.example/platform-log+3a3990df+Ae1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR'
  })
  expect(parseVerifierKey(keys.log).publicKey).toEqual(publicKeyOf(seeds.log))
})

test('the receipt of the published example has its bytes', async () => {
  const leaves = [policy.leaf, deposit, '{}']
  const salts = deriveLinkSalts(linkKey)
  const text = formatReceipt({
    log: { name: 'ACME', origin, vkey: keys.log },
    leaf: deposit,
    open: {
      orig: { salt: toBase64Url(salts.orig), value: exampleValues.orig },
      expires: { salt: toBase64Url(exampleSalt('expires')), value: '' }
    },
    proof: await proofAt(leaves, 1, 3),
    keys: [{ leaf: policy.leaf, proof: await proofAt(leaves, 0, 1) }]
  })
  expect(text).toBe(`${receipt}\n`)
  expect(parseReceipt(toUtf8(text))?.leaf).toBe(deposit)
})

test('signs as OpenSSL does', () => {
  for (let seed = 0; seed < 20; seed++) {
    const name = `log.example/${seed}`
    const key = makeKey(name, seed)
    expect(verifierKeyOf(name, publicKeyOf(seedOf(seed)))).toBe(key.vkey)
    const text = `${name}\n${seed}\né\n`
    expect(signNote(text, { name, seed: seedOf(seed) })).toBe(noteOf(text, [key]))
  }
})

test('a checkpoint is read as it was written', () => {
  const root = new Uint8Array(countingBytes(1))
  const size = Number.MAX_SAFE_INTEGER
  const note = signNote(checkpointText({ origin, size, root }), { name: origin, seed: seeds.log })
  const checkpoint = parseCheckpoint(note)
  expect(checkpoint).toMatchObject({ origin, size: BigInt(size), root })
  expect(findSigners(checkpoint.note, [parseVerifierKey(keys.log)])).toHaveLength(1)
})

test('what is no text of a note is not signed', () => {
  for (const text of ['', 'no line feed'])
    expect(() => signNote(text, { name: origin, seed: seeds.log })).toThrow('line feed')
})

test('a proof is that of the definition, and may carry data', async () => {
  const { leaves, ...log } = exampleLog()
  for (const index of [0, 1, 2])
    expect(await proofAt(leaves, index, 3)).toBe(proofOf({ ...log, leaves }, index, 3))
  const note = signNote('a\n1\n', { name: origin, seed: seeds.log })
  const text = formatLogProof({ index: 0, steps: [], note, extra: toUtf8('{}') })
  expect(text).toBe(`c2sp.org/tlog-proof@v1\nextra e30=\nindex 0\n\n${note}`)
  const read = parseLogProof(
    formatLogProof({ ...(await proofParts(leaves, 1, 3)), extra: toUtf8('x') })
  )
  expect(read).toMatchObject({ index: 1n, extra: toUtf8('x'), checkpoint: { size: 3n } })
})

test('a policy names the last checkpoint of the log before it', () => {
  expect(policy.leaf).toBe(exampleLog().leaves[0])
  expect(policy.hash).toEqual(hashLeaf(toUtf8(policy.leaf)))
  const next = `${origin}/2`
  const log = verifierKeyOf(next, publicKeyOf(seeds.log))
  const previous = { origin, size: 3, root: new Uint8Array(countingBytes(0)) }
  const id = toBase64Url(countingBytes(0).slice(0, 16))
  const { leaf } = buildPolicyLeaf({ ...keys, id, origin: next, log, previous })
  const root = toBase64(previous.root)
  expect(leaf).toContain(`"previous":{"origin":"${origin}","root":"${root}","size":3},"type"`)
  expect(parseLeaf(leaf)).toMatchObject({ type: 'policy', id, origin: next, key: { text: log } })
  expect(() => buildPolicyLeaf({ ...keys, id, origin: next })).toThrow('name of the log')
  expect(() => buildPolicyLeaf({ ...keys, id: 'x', origin })).toThrow('id')
})

async function proofAt(leaves: string[], index: number, size: number): Promise<string> {
  return formatLogProof(await proofParts(leaves, index, size))
}

async function proofParts(leaves: string[], index: number, size: number) {
  const hashes = leaves.slice(0, size).map(leaf => hashLeaf(toUtf8(leaf)))
  const { tiles, root } = await growTiles(0, hashes, async () => new Uint8Array())
  const read = async () => tiles[0]?.hashes ?? new Uint8Array()
  const note = signNote(checkpointText({ origin, size, root }), { name: origin, seed: seeds.log })
  return { index, steps: await inclusionSteps(index, size, read), note }
}

function seedOf(byte: number): Bytes {
  return new Uint8Array(32).fill(byte)
}
