import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { describe, expect, test } from 'vitest'
import { toUtf8 } from '../../../../src/core/bytes.ts'
import { canonicalize } from '../../../../src/core/evidence/canonical-json.ts'
import { parseLogPolicy } from '../../../../src/core/evidence/log-policy.ts'
import { type Verification, verify } from '../../../../src/core/evidence/verification.ts'
import {
  bodyOf,
  depositLeaf,
  exampleDigest,
  exampleId,
  exampleLog,
  exampleOrigin,
  makeKey,
  noteOf,
  openingsOf,
  policyLeaf,
  proofOf,
  receiptOf,
  type TestLog,
  type TestReceipt
} from '../../../helpers/evidence/evidence-log.ts'
import { leaf as publishedLeaf } from './vectors.ts'

const now = new Date('2026-11-28T12:00:00Z')
const log = exampleLog()
const example = receiptOf(log, openingsOf(['expires', 'orig']))
const whole = ['orig', 'stored', 'transform', 'expires', 'time']
const pinned = trustIn(log.key.vkey)
const otherDigest = `sha256:${'0'.repeat(64)}`

function trustIn(...vkeys: string[]) {
  const lines = vkeys.map(vkey => `log ${vkey}\n`).join('')
  return { policies: [parseLogPolicy(`${lines}quorum none\n`)] }
}

function anchorOf({ origin, leaves }: TestLog) {
  const platform = makeKey('vidimus.example/platform-log', 3)
  const bodies = [1, 3].map(size => bodyOf({ origin, leaves, key: log.key }, size))
  const tree = { origin: platform.name, key: platform, leaves: bodies }
  const cosigned = 1_795_166_900
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(cosigned))
  const witness = makeKey('witness.example/w1', 4, 4)
  const line = witness.sign(`cosignature/v1\ntime ${cosigned}\n${bodyOf(tree, 2)}`, time)
  return { proof: proofOf(tree, 1, 2) + line, vkey: platform.vkey }
}

function statusOf({ origin }: TestLog) {
  const state = { at: '2026-11-20T09:28:16Z', id: exampleId, index: 1, size: 3 }
  const text = canonicalize({ ...state, state: 'current', v: 1 })
  const answers = makeKey(`${origin}/answers`, 2)
  return { leaves: [], note: noteOf(`vidimus/status@v1\n${origin}\n${text}\n`, [answers]) }
}

function judge(
  receipt: TestReceipt | string,
  { digest = exampleDigest, trust = pinned, at = now } = {}
): Verification {
  const bytes = toUtf8(typeof receipt === 'string' ? receipt : JSON.stringify(receipt))
  return verify({ receipt: bytes, ...(digest && { digest }) }, trust, at)
}

const broken = (reason: string) => ({ verdict: 'receipt_broken', reason })
const unclear = (reason: string) => ({ verdict: 'indeterminate', reason })

describe('the published example', () => {
  test('is the same, byte for byte, when it is made a second time', () => {
    expect(depositLeaf()).toBe(publishedLeaf)
    const text = `${canonicalize(JSON.parse(JSON.stringify(example)))}\n`
    expect(text).toBe(`${JSON.stringify(example)}\n`)
    const page = readFileSync(
      join(import.meta.dirname, '../../../../docs/receipt-format.md'),
      'utf8'
    )
    expect(page).toContain(`\n\`\`\`json\n${text}\`\`\`\n`)
    expect(createHash('sha256').update(text).digest('hex')).toBe(
      'ad730b7d1a9bf9f5c0b3325ba2933e1a69fccd10d8487cbc4b9d55bfe341246c'
    )
  })

  test('is authentic for a reader who knows the key, and matches for another', () => {
    const known = judge(example)
    expect(known.outcome).toEqual({ verdict: 'authentic' })
    expect(known.facts).toEqual({
      match: 'original',
      original_declared: true,
      issuer: 'pinned',
      inclusion: 'proven',
      consistency: 'first_visit',
      witnesses: 'none',
      time: 'not_disclosed',
      depositor: 'not_disclosed',
      status: 'unchecked'
    })
    expect(known.record).toMatchObject({
      origin: exampleOrigin,
      id: exampleId,
      index: 1n,
      size: 3n,
      key: { text: log.key.vkey }
    })
    const unknown = judge(example, { trust: { policies: [] } })
    expect(unknown.outcome).toEqual({ verdict: 'matches' })
    expect(unknown.facts.issuer).toBe('unknown')
  })

  // the published example of the version that adds these members, with its SHA-256
  test('with what a later version adds to it is judged in the same way', () => {
    const later = { ...example, anchor: anchorOf(log), status: statusOf(log) }
    const text = `${canonicalize(JSON.parse(JSON.stringify(later)))}\n`
    expect(createHash('sha256').update(text).digest('hex')).toBe(
      '032c57f84042b7f13c79090dda5bb248683c88a52c2b41a2d8024a6f0cb4bc57'
    )
    expect(judge(text).outcome).toEqual({ verdict: 'authentic' })
    expect(judge(text).facts).toEqual(judge(example).facts)
    const other = { ...example, anchor: 1, status: [], timestamps: { a: 'b' } } as never
    expect(judge(other).outcome).toEqual({ verdict: 'authentic' })
  })
})

describe('the file', () => {
  const reduced = `sha256:${'1'.repeat(64)}`
  const values = { stored: reduced, transform: '{"kind":"image-recompress"}' }
  const picture = exampleLog({ deposit: depositLeaf(values) })
  const judgePicture = (names: string[], digest: string) =>
    judge(receiptOf(picture, openingsOf(names, values)), { digest })

  test('is the original, the stored copy, or neither', () => {
    const original = judgePicture(whole, exampleDigest)
    expect(original.outcome.verdict).toBe('authentic')
    expect(original.facts).toMatchObject({ match: 'original', original_declared: true })
    expect(original.facts.time).toEqual({ claimed: '2026-11-20T09:28:15Z' })
    const copy = judgePicture(whole, reduced)
    expect(copy.outcome.verdict).toBe('authentic')
    expect(copy.facts).toMatchObject({ match: 'stored_copy', original_declared: false })
    expect(judgePicture(whole, otherDigest).outcome).toEqual({ verdict: 'differs' })
  })

  test('is not accused while a fingerprint is hidden', () => {
    const hidden = unclear('fields_hidden')
    expect(judgePicture(['orig', 'expires'], reduced).outcome).toEqual(hidden)
    expect(judgePicture(['orig', 'transform', 'expires'], reduced).outcome).toEqual(hidden)
    expect(judgePicture(['expires'], exampleDigest).outcome).toEqual(hidden)
    expect(judge(example, { digest: otherDigest }).outcome).toEqual(hidden)
    const single = receiptOf(log, openingsOf(['orig', 'transform', 'expires']))
    expect(judge(single, { digest: otherDigest }).outcome).toEqual({ verdict: 'differs' })
    const stored = receiptOf(log, openingsOf(['stored', 'transform', 'expires']))
    expect(judge(stored).facts.match).toBe('original')
  })

  // hidden fields never make a verdict better
  test.each([[['orig', 'transform']], [['orig', 'stored']], [['orig']]])(
    'was only declared, as far as %j tell',
    names => {
      const { facts } = judgePicture(names, exampleDigest)
      expect(facts).toMatchObject({ match: 'original', original_declared: true })
    }
  )

  test('may be on record by its fingerprint alone', () => {
    const alone = exampleLog({ deposit: depositLeaf({ stored: '' }) })
    const receipt = receiptOf(alone, openingsOf(whole, { stored: '' }))
    expect(judge(receipt).facts).toMatchObject({ match: 'original', original_declared: true })
    expect(judge(receipt, { digest: otherDigest }).outcome).toEqual({ verdict: 'differs' })
  })

  test('may be missing', () => {
    expect(judge(example, { digest: '' }).outcome).toEqual(unclear('no_file'))
  })
})

test('a record expires at its time, unless it cannot be seen', () => {
  const values = { expires: '2026-11-28T12:00:00Z' }
  const expiring = exampleLog({ deposit: depositLeaf(values) })
  const receipt = receiptOf(expiring, openingsOf(whole, values))
  const before = new Date(now.getTime() - 1)
  expect(judge(receipt, { at: before }).outcome).toEqual({ verdict: 'authentic' })
  expect(judge(receipt).outcome).toEqual({ verdict: 'expired' })
  expect(judge(receipt).facts.status).toBe('expired')
  expect(judge(receipt, { digest: '' }).outcome).toEqual({ verdict: 'expired' })
  expect(judge(receipt, { digest: otherDigest }).outcome).toEqual({ verdict: 'differs' })
  const hiding = receiptOf(expiring, openingsOf(['orig', 'stored']))
  expect(judge(hiding).outcome).toEqual(unclear('fields_hidden'))
})

describe('keys', () => {
  const [first, second, third] = [1, 5, 6].map(seed => makeKey(exampleOrigin, seed))
  const keys = [first, second, third] as [typeof log.key, typeof log.key, typeof log.key]
  // index 2 and 4 change the key, and the old one signs the change
  const rotating: TestLog = {
    origin: exampleOrigin,
    key: keys[2],
    leaves: [
      policyLeaf(exampleOrigin, keys[0]),
      depositLeaf(),
      policyLeaf(exampleOrigin, keys[1]),
      '{}',
      policyLeaf(exampleOrigin, keys[2]),
      '{}'
    ]
  }
  const entries = [
    { leaf: rotating.leaves[0] ?? '', proof: proofOf(rotating, 0, 1, [keys[0]]) },
    { leaf: rotating.leaves[2] ?? '', proof: proofOf(rotating, 2, 3, [keys[0], keys[1]]) },
    { leaf: rotating.leaves[4] ?? '', proof: proofOf(rotating, 4, 5, [keys[1], keys[2]]) }
  ]
  const receipt = { ...receiptOf(rotating, example.open), keys: entries }

  test.each([0, 1, 2])('lead from pinned key %i to the one that signed', i => {
    const result = judge(receipt, { trust: trustIn(keys[i]?.vkey ?? '') })
    expect(result.outcome).toEqual({ verdict: 'authentic' })
    expect(result.record?.key.text).toBe(keys[2].vkey)
  })

  test('lead nowhere if a change of keys is left out', () => {
    const gap = { ...receipt, keys: [entries[0], entries[2]] } as TestReceipt
    expect(judge(gap, { trust: trustIn(keys[0].vkey) }).outcome).toEqual({ verdict: 'matches' })
    const none = { ...receipt, keys: [] }
    expect(judge(none, { trust: trustIn(keys[2].vkey) }).outcome).toEqual({ verdict: 'authentic' })
  })

  test('of others are worth nothing', () => {
    const forged = exampleLog({ seed: 9 })
    const theirs = receiptOf(forged, example.open)
    expect(judge(theirs).outcome).toEqual({ verdict: 'matches' })
    const namesake = makeKey('verify.acme.example/other', 1).vkey
    expect(judge(example, { trust: trustIn(namesake) }).outcome).toEqual({ verdict: 'matches' })
    // a change of keys that the pinned key has not signed
    const mixed = {
      ...theirs,
      keys: [entries[0], { leaf: forged.leaves[0], proof: proofOf(forged, 0, 2) }]
    } as TestReceipt
    expect(judge(mixed, { trust: trustIn(keys[0].vkey) }).outcome).toEqual({ verdict: 'matches' })
    const quorum = { policies: [{ ...pinned.policies[0], quorum: 'x' }] } as typeof pinned
    expect(judge(example, { trust: quorum }).outcome).toEqual({ verdict: 'matches' })
  })

  test.each<[string, string, Partial<TestReceipt['keys'][number]>]>([
    ['receipt_altered', 'an altered policy', { leaf: `${example.keys[0]?.leaf} ` }],
    ['receipt_altered', 'another leaf', { leaf: example.leaf, proof: example.proof }],
    ['receipt_altered', 'another log', otherPolicy()],
    ['proof_invalid', 'no proof', { proof: '' }],
    ['proof_invalid', 'the proof of another leaf', { proof: example.proof }],
    ['signature_invalid', 'no signature', { proof: proofOf(log, 0, 1, [makeKey('x', 1)]) }]
  ])('make the receipt %s by %s', (reason, _, change) => {
    const entry = { leaf: '', proof: '', ...example.keys[0], ...change }
    const outcome = broken(reason)
    expect(judge({ ...example, keys: [entry] }).outcome).toEqual(outcome)
    expect(judge({ ...example, keys: [entry] }, { trust: { policies: [] } }).outcome).toEqual(
      outcome
    )
  })

  test('of a newer version make no verdict', () => {
    const leaves = [log.leaves[0]?.replace('"v":1', '"v":2') ?? '', ...log.leaves.slice(1)]
    const newer = receiptOf({ ...log, leaves }, example.open)
    expect(judge(newer).outcome).toEqual(unclear('unknown_version'))
  })

  function otherPolicy() {
    const other = exampleLog({ origin: 'verify.other.example/log' })
    return { leaf: other.leaves[0] ?? '', proof: proofOf(other, 0, 1) }
  }
})

test('two roots of one size convict a log whose key is pinned, and nobody else', () => {
  const fork = { ...log, leaves: [...log.leaves.slice(0, 2), '[]'] }
  const entry = { leaf: log.leaves[0] ?? '', proof: proofOf(fork, 0, 3) }
  const forked = { ...example, keys: [entry] }
  const result = judge(forked)
  expect(result.outcome).toEqual({ verdict: 'log_broken' })
  expect(result.facts.consistency).toBe('broken')
  expect(result.steps.issuer).toBe('failed')
  const hiding = { ...forked, open: { orig: { salt: '', value: '' } } }
  expect(judge(hiding).outcome).toEqual({ verdict: 'log_broken' })
  expect(judge(forked, { trust: { policies: [] } }).outcome).toEqual(broken('proof_invalid'))
})

describe('a broken receipt', () => {
  const opening = { salt: '', value: '', ...example.open['orig'] }
  const open = (change: object) => ({ open: { orig: { ...opening, ...change } } as never })
  const other = exampleLog({ origin: 'verify.other.example/log' })
  const theirs = receiptOf(other, openingsOf(whole))
  const malformed = exampleLog({ deposit: depositLeaf({ expires: 'never' }) })

  test.each<[string, string, Partial<TestReceipt>]>([
    ['receipt_altered', 'another value', open({ value: otherDigest })],
    ['receipt_altered', 'another salt', open({ salt: openingsOf(['stored'])['stored']?.salt })],
    ['receipt_altered', 'a salt with padding', open({ salt: `${opening.salt}=` })],
    [
      'receipt_altered',
      'a salt with other last bits',
      open({ salt: `${opening.salt.slice(0, -1)}N` })
    ],
    ['receipt_altered', 'a short salt', open({ salt: 'AAAA' })],
    ['receipt_altered', 'no value', open({ value: 1 })],
    ['receipt_altered', 'an opening that is none', { open: { orig: 'x' } as never }],
    [
      'receipt_altered',
      'the opening of another field',
      { open: { orig: openingsOf(['name'])['name'] } as never }
    ],
    [
      'receipt_altered',
      'another record’s leaf',
      { leaf: depositLeaf().replace('AAECAwQ', 'AAECBwQ') }
    ],
    [
      'receipt_altered',
      'a leaf that is not canonical',
      { leaf: example.leaf.replace('{"c"', '{ "c"') }
    ],
    [
      'receipt_altered',
      'a leaf without a field',
      { leaf: example.leaf.replace(/"sig":"[^"]+",/, '') }
    ],
    [
      'receipt_altered',
      'a commitment that is none',
      { leaf: example.leaf.replace(/"sig":"[^"]+"/, '"sig":""') }
    ],
    ['receipt_altered', 'a leaf of 65,536 bytes', { leaf: `"${'x'.repeat(65_534)}"` }],
    ['receipt_altered', 'a leaf of another kind', { leaf: '[]' }],
    ['receipt_altered', 'another origin', { log: { ...example.log, origin: other.origin } }],
    ['receipt_altered', 'another log', { log: theirs.log }],
    ['receipt_altered', 'no key', { log: { ...example.log, vkey: '' } }],
    ['receipt_altered', 'no openings', { open: [] as never }],
    ['receipt_altered', 'no keys', { keys: {} as never }],
    [
      'receipt_altered',
      '65 keys',
      { keys: Array.from({ length: 65 }, () => ({ leaf: '', proof: '' })) }
    ],
    [
      'receipt_altered',
      'a value that its field cannot have',
      receiptOf(malformed, openingsOf(['expires'], { expires: 'never' }))
    ],
    ['proof_invalid', 'another leaf', { leaf: depositLeaf({ name: 'other.txt' }), open: {} }],
    ['proof_invalid', 'another company’s proof', { proof: theirs.proof }],
    ['proof_invalid', 'another record’s proof', { proof: proofOf(log, 2, 3) }],
    ['proof_invalid', 'another index', { proof: example.proof.replace('index 1', 'index 2') }],
    [
      'proof_invalid',
      'an index beyond 2^53',
      { proof: example.proof.replace('index 1', 'index 9007199254740993') }
    ],
    ['proof_invalid', 'another size', { proof: example.proof.replace('\n3\n', '\n5\n') }],
    [
      'signature_invalid',
      'a size whose proof is the same',
      { proof: example.proof.replace('\n3\n', '\n4\n') }
    ],
    [
      'proof_invalid',
      'an extra line',
      { proof: example.proof.replace('index', 'extra e30=\nindex') }
    ],
    ['proof_invalid', 'no proof', { proof: '' }],
    [
      'signature_invalid',
      'a signature of another text',
      {
        proof: example.proof.replace(/(log )\S+\n$/, `$1${proofOf(log, 1, 2).match(/\S+\n$/)?.[0]}`)
      }
    ],
    [
      'signature_invalid',
      'a signature of another key',
      { proof: proofOf(log, 1, 3, [makeKey(exampleOrigin, 9)]) }
    ],
    [
      'signature_invalid',
      'two signatures of a key',
      { proof: proofOf(log, 1, 3, [log.key, log.key]) }
    ]
  ])('is %s by %s', (reason, _, change) => {
    expect(judge({ ...example, ...change }).outcome).toEqual(broken(reason))
    expect(judge({ ...example, ...change }, { digest: otherDigest }).outcome).toEqual(
      broken(reason)
    )
  })

  test('is a text that is no receipt', () => {
    const text = JSON.stringify(example)
    const texts = [
      '',
      'null',
      '[]',
      '{}',
      text.slice(0, -1),
      `${text}x`,
      `\ufeff${text}`,
      text.replace('{"format"', '{"format":"vidimus/receipt@v1","format"'),
      text.replace('"timestamps":[]', '"timestamps":null'),
      text.replace('"timestamps":[]', '"timestamps":-1'),
      text.replace('"timestamps":[]', '"timestamps":1.5'),
      text.replace('"name":"ACME"', '"name":"\\ud800"'),
      text.replace('vidimus/receipt@v1', 'vidimus/answer@v1')
    ]
    for (const each of texts) expect(judge(each).outcome).toEqual(broken('receipt_altered'))
    const latin1 = Uint8Array.of(...toUtf8(text.slice(0, -1)), 0xe9, 0x7d)
    expect(verify({ receipt: latin1 }, pinned, now).outcome).toEqual(broken('receipt_altered'))
  })

  test('is one with any of its characters changed, and never authentic', () => {
    const text = JSON.stringify(receiptOf(log, openingsOf(['expires', 'orig'])))
    const verdicts = new Set<string>()
    for (let i = 0; i < text.length; i += 11) {
      const flipped = String.fromCharCode(text.charCodeAt(i) ^ 1)
      const { outcome } = judge(text.slice(0, i) + flipped + text.slice(i + 1))
      const isHarmless = outcome.verdict === 'authentic'
      // names that are not proved, and members that are ignored
      if (isHarmless) expect(text.slice(i - 20, i + 12)).toMatch(/"name":"ACME"|"timestamps"/)
      verdicts.add(outcome.verdict)
    }
    expect(verdicts).not.toContain('differs')
    expect(verdicts).not.toContain('log_broken')
  })
})

describe('a newer version', () => {
  test.each([
    ['of the format', JSON.stringify({ format: 'vidimus/receipt@v2', log: 1 })],
    ['of the leaf', { leaf: example.leaf.replace('"v":1', '"v":2') }],
    ['of another type', { leaf: example.leaf.replace('"deposit"', '"erase"') }],
    ['without what we know', { leaf: '{"type":"audit","v":1}' }]
  ])('%s makes no verdict', (_, change) => {
    const receipt = typeof change === 'string' ? change : { ...example, ...change }
    expect(judge(receipt).outcome).toEqual(unclear('unknown_version'))
  })

  test('may have members and openings that we do not know', () => {
    const opening = { salt: 1, value: [] } as never
    const receipt = {
      ...example,
      more: { a: [1] },
      open: { ...example.open, later: opening, ['__proto__']: opening }
    }
    Object.defineProperty(receipt.open, '__proto__', { value: opening, enumerable: true })
    const result = judge(receipt)
    expect(result.outcome).toEqual({ verdict: 'authentic' })
    expect(result.unknownFields).toEqual(['later', '__proto__'])
    expect([...result.fields.keys()]).toEqual(['expires', 'orig'])
  })
})

test('hostile receipts are refused at once', () => {
  const line = `— ${exampleOrigin} ${'A'.repeat(92)}\n`
  const texts = [
    ' '.repeat(1_000_000),
    '['.repeat(262_144),
    '{"a":'.repeat(40_000),
    `"${'\\'.repeat(262_000)}`,
    `{${Array.from({ length: 20_000 }, (_, i) => `"${i}":0`).join()}}`,
    JSON.stringify({ ...example, proof: '\n'.repeat(200_000) }).replaceAll('\\n', '\n'),
    JSON.stringify({ ...example, proof: `${example.proof}${line.repeat(1_500)}` }),
    JSON.stringify({ ...example, proof: example.proof.replace('1', '9'.repeat(200_000)) }),
    JSON.stringify({ ...example, log: { ...example.log, origin: 'a+'.repeat(60_000) } }),
    JSON.stringify({ ...example, log: { ...example.log, vkey: '+'.repeat(120_000) } }),
    JSON.stringify({ ...example, leaf: `{"a":${'['.repeat(60_000)}` })
  ]
  for (const text of texts) {
    const start = performance.now()
    expect(judge(text).outcome.verdict).toBe('receipt_broken')
    expect(performance.now() - start).toBeLessThan(5_000)
  }
})
