import { createHash } from 'node:crypto'
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js'
import { createRandom, type Random } from '../random.ts'
import {
  bodyOf,
  depositLeaf,
  exampleFile,
  exampleLog,
  exampleOrigin,
  makeKey,
  noteOf,
  openingsOf,
  policyLeaf,
  proofOf,
  receiptOf,
  sha256,
  type TestKey,
  type TestLog,
  type TestReceipt
} from './evidence-log.ts'

/** A file with a receipt, what the reader trusts, and what a verifier has to answer. */
export interface VerifierCase {
  name: string
  file: string
  receipt: string | Buffer
  key?: string
  policy?: string
  /** Verdict and reason, or `unusable`. Without it, the answer is any but a success. */
  answer?: string
}

type Change = Partial<Omit<VerifierCase, 'name' | 'receipt'>>

const log = exampleLog()
const all = ['orig', 'stored', 'transform', 'expires', 'time']
const example = receiptOf(log, openingsOf(all))
const vkey = log.key.vkey
const altered = 'receipt_broken receipt_altered'
const badProof = 'receipt_broken proof_invalid'
const badSignature = 'receipt_broken signature_invalid'
const newer = 'indeterminate unknown_version'
const hidden = 'indeterminate fields_hidden'
const otherFile = 'another document\n'
const reducedFile = 'a reduced copy\n'

function caseOf(name: string, receipt: TestReceipt | string | Buffer, change: Change = {}) {
  const isText = typeof receipt === 'string' || Buffer.isBuffer(receipt)
  const bytes = isText ? receipt : JSON.stringify(receipt)
  return { name, file: exampleFile, receipt: bytes, key: vkey, ...change }
}

/** Receipts that hold. The answer also depends on the file, the trusted keys and the hidden fields. */
export function goodCases(seed: number): VerifierCase[] {
  const others = [
    ...hiddenFieldCases(),
    ...pictureCases(),
    ...expiryCases(),
    ...rotationCases(),
    ...spellingCases(),
    ...trustCases()
  ]
  const random = createRandom(seed)
  return [...others, ...sizeCases(random, 100 - others.length)]
}

/** Receipts that do not hold, or that the reader cannot judge. */
export function brokenCases(seed: number): VerifierCase[] {
  const others = [
    ...swappedCases(),
    ...jsonCases(),
    ...leafCases(),
    ...openingCases(),
    ...proofCases(),
    ...noteCases(),
    ...curveCases(),
    ...brokenRotationCases(),
    ...unusableCases()
  ]
  const random = createRandom(seed)
  return [...others, ...flippedCases(random, 200 - others.length)]
}

function sizeCases(random: Random, count: number): VerifierCase[] {
  return Array.from({ length: count }, (_, i) => {
    const size = i + 2
    const index = random.integer(1, size - 1)
    const leaves = Array.from({ length: size }, (_, at) => `{"filler":${at}}`)
    const tree = { ...log, leaves: leaves.with(0, log.leaves[0] ?? '').with(index, depositLeaf()) }
    const trust = random.pick(['key', 'policy', 'none'])
    const policy = trust === 'policy' ? `# keys\n\nlog ${vkey}\nquorum none\n` : undefined
    return {
      name: `leaf ${index} of ${size}, trusted: ${trust}`,
      file: exampleFile,
      receipt: JSON.stringify(receiptOf(tree, openingsOf(all), { index, size })),
      ...(trust === 'key' && { key: vkey }),
      ...(policy !== undefined && { policy }),
      answer: trust === 'none' ? 'matches' : 'authentic'
    }
  })
}

function hiddenFieldCases(): VerifierCase[] {
  const subsets = Array.from({ length: 16 }, (_, bits) =>
    ['orig', 'stored', 'transform', 'expires'].filter((_, at) => (bits >> at) & 1)
  )
  return subsets.flatMap(open => {
    const has = (name: string) => open.includes(name)
    const receipt = receiptOf(log, openingsOf(open))
    const isSame = (has('orig') || has('stored')) && has('expires')
    const isOther =
      (has('orig') && has('stored')) || (has('transform') && (has('orig') || has('stored')))
    return [
      caseOf(`opened: ${open}`, receipt, { answer: isSame ? 'authentic' : hidden }),
      caseOf(`another file, opened: ${open}`, receipt, {
        file: otherFile,
        answer: isOther ? 'differs' : hidden
      })
    ]
  })
}

function pictureCases(): VerifierCase[] {
  const reduced = `sha256:${createHash('sha256').update(reducedFile).digest('hex')}`
  const kinds = [
    { kind: 'reduced', values: { stored: reduced, transform: '{"kind":"image-recompress"}' } },
    { kind: 'not kept', values: { stored: '' } },
    { kind: 'contradictory', values: { stored: reduced } }
  ]
  return kinds.flatMap(({ kind, values }) => {
    const tree = exampleLog({ deposit: depositLeaf(values) })
    return [exampleFile, reducedFile, otherFile].map(file => {
      const isHeld = file === exampleFile || (file === reducedFile && kind !== 'not kept')
      return caseOf(`${kind}: ${file.trim()}`, receiptOf(tree, openingsOf(all, values)), {
        file,
        answer: isHeld ? 'authentic' : 'differs'
      })
    })
  })
}

function expiryCases(): VerifierCase[] {
  const past = '2020-02-29T23:59:59Z'
  const caseAt = (expires: string, answer: string, names = all, file = exampleFile) => {
    const tree = exampleLog({ deposit: depositLeaf({ expires }) })
    const receipt = receiptOf(tree, openingsOf(names, { expires }))
    return caseOf(`expires ${expires}, opened: ${names}`, receipt, { answer, file })
  }
  return [
    caseAt('9999-12-31T23:59:59Z', 'authentic'),
    caseAt(past, 'expired'),
    caseAt('0000-02-29T00:00:00Z', 'expired'),
    caseAt(past, 'differs', all, otherFile),
    caseAt(past, hidden, ['expires']),
    caseAt(past, hidden, ['orig', 'stored', 'transform'])
  ]
}

function rotated() {
  const [first, second, third] = [
    makeKey(exampleOrigin, 1),
    makeKey(exampleOrigin, 7),
    makeKey(exampleOrigin, 8)
  ]
  const leaves = [first, second, third].map(key => policyLeaf(exampleOrigin, key))
  const tree = { origin: exampleOrigin, key: third, leaves: [...leaves, depositLeaf()] }
  const entries = [
    { leaf: leaves[0] ?? '', proof: proofOf(tree, 0, 1, [first]) },
    { leaf: leaves[1] ?? '', proof: proofOf(tree, 1, 2, [first, second]) },
    { leaf: leaves[2] ?? '', proof: proofOf(tree, 2, 3, [second, third]) }
  ]
  const receipt = { ...receiptOf(tree, openingsOf(all), { index: 3 }), keys: entries }
  return { first, second, third, tree, entries, receipt }
}

function rotationCases(): VerifierCase[] {
  const { first, second, third, entries, receipt } = rotated()
  const trusting = (key: string, answer: string, keys = entries) =>
    caseOf(
      `rotated, trusted: ${key}, entries: ${keys.length}`,
      { ...receipt, keys },
      { key, answer }
    )
  return [
    trusting(first.vkey, 'authentic'),
    trusting(second.vkey, 'authentic'),
    trusting(third.vkey, 'authentic'),
    trusting(makeKey(exampleOrigin, 9).vkey, 'matches'),
    trusting(first.vkey, 'matches', entries.slice(0, 2)),
    trusting(first.vkey, 'matches', entries.toReversed()),
    trusting(third.vkey, 'authentic', [])
  ]
}

function spellingCases(): VerifierCase[] {
  const text = JSON.stringify(example)
  const good = (name: string, receipt: string | TestReceipt) =>
    caseOf(name, receipt, { answer: 'authentic' })
  return [
    good('white space', `\r\n\t ${JSON.stringify(example, undefined, 2)}\n\n`),
    good('other order', JSON.stringify(Object.fromEntries(Object.entries(example).toReversed()))),
    good('escapes', text.replaceAll('/', '\\/').replaceAll('orig', '\\u006F\\u0072ig')),
    good('other members', { ...example, anchor: { a: [true, false, 0] }, status: '😀\u007f' }),
    good('escaped surrogates', text.replace('"ACME"', '"\\ud83d\\ude00\\u0000"')),
    good('no name', text.replace('"name":"ACME",', '')),
    good('no timestamps', text.replace(',"timestamps":[]', '')),
    good(
      'deep',
      text.replace('"timestamps":[]', `"timestamps":${'['.repeat(32)}${']'.repeat(32)}`)
    ),
    good('largest integer', text.replace('"timestamps":[]', '"timestamps":9007199254740991')),
    good('longest', text + ' '.repeat(262_144 - Buffer.byteLength(text))),
    good('unknown opening', {
      ...example,
      open: { ...example.open, other: 1 as never }
    })
  ]
}

function trustCases(): VerifierCase[] {
  const trusting = (name: string, change: Change, answer: string) =>
    caseOf(name, example, { key: undefined as never, ...change, answer })
  const witness = makeKey('witness.example/w1', 4, 4).vkey
  const added = makeKey(exampleOrigin, 9)
  return [
    trusting('key of another log', { key: makeKey('other.example/log', 1).vkey }, 'matches'),
    trusting('another key of this log', { key: makeKey(exampleOrigin, 5).vkey }, 'matches'),
    trusting('no keys', {}, 'matches'),
    caseOf(
      'signed by the trusted key, and names another that has signed, too',
      {
        ...example,
        log: { ...example.log, vkey: added.vkey },
        proof: proofOf(log, 1, 3, [log.key, added])
      },
      { answer: 'authentic' }
    ),
    trusting(
      'policy with witnesses that need not sign',
      {
        policy: `log\t${vkey}  https://log.example/\nlog ${makeKey(exampleOrigin, 6, 4).vkey}\nwitness w ${witness}\ngroup g any w\nquorum none`
      },
      'authentic'
    ),
    trusting(
      'policy with a key of an unknown type',
      { policy: `log a+00000000+AgAA\n \n #\nlog ${vkey}\nquorum none\n` },
      'authentic'
    )
  ]
}

function swappedCases(): VerifierCase[] {
  const other = exampleLog({
    origin: 'verify.other.example/log',
    seed: 5,
    deposit: depositLeaf({}, 'verify.other.example/log')
  })
  const theirs = receiptOf(other, openingsOf(all))
  const twin = exampleLog({ seed: 5 })
  const namesake = receiptOf(twin, openingsOf(all))
  const swap = (name: string, members: Partial<TestReceipt>, answer: string) =>
    caseOf(`of another log: ${name}`, { ...example, ...members }, { answer })
  return [
    swap('proof', { proof: theirs.proof }, badProof),
    swap('keys', { keys: theirs.keys }, altered),
    swap('leaf', { leaf: theirs.leaf }, altered),
    swap('log', { log: theirs.log }, altered),
    swap('log and proof', { log: theirs.log, proof: theirs.proof }, altered),
    swap(
      'opening',
      { open: { ...example.open, name: openingsOf(['name'], { name: 'x' })['name'] as never } },
      altered
    ),
    swap('vkey', { log: { ...example.log, vkey: other.key.vkey } }, altered),
    swap('proof, with the same name', { proof: namesake.proof }, badSignature),
    swap('keys, with the same name, which add nothing', { keys: namesake.keys }, 'authentic'),
    swap('vkey, with the same name', { log: namesake.log }, badSignature)
  ]
}

function jsonCases(): VerifierCase[] {
  const text = JSON.stringify(example)
  const bad = (name: string, receipt: string | Buffer, answer = altered) =>
    caseOf(`receipt: ${name}`, receipt, { answer })
  const stamps = (value: string) => text.replace('"timestamps":[]', `"timestamps":${value}`)
  const format = (value: string) => text.replace('"vidimus/receipt@v1"', value)
  return [
    bad('empty', ''),
    bad('cut', text.slice(0, -1)),
    bad('cut in half', text.slice(0, text.length / 2)),
    bad('followed by text', `${text}x`),
    bad('byte order mark', `\ufeff${text}`),
    bad('UTF-16', Buffer.from(text, 'utf16le')),
    bad('not UTF-8', Buffer.from(text.replace('ACME', '\xff'), 'latin1')),
    bad('too long', text.padEnd(262_145)),
    bad('too long, newer', format('"vidimus/receipt@v2"').padEnd(262_145)),
    bad('list', `[${text}]`),
    bad('duplicate key', text.replace('{', '{"format":"vidimus/receipt@v1",')),
    bad('duplicate key, escaped', text.replace('{', '{"\\u0066ormat":"vidimus/receipt@v1",')),
    ...[
      'null',
      '-0',
      '1.0',
      '1e0',
      '01',
      '9007199254740992',
      '9'.repeat(5000),
      'NaN',
      '"\\ud800"',
      '"\u0001"',
      "'a'",
      '[1,]',
      `${'['.repeat(33)}${']'.repeat(33)}`,
      '['.repeat(50_000)
    ].map(value => bad(`value ${value.slice(0, 40)}`, stamps(value))),
    bad('format 1', format('1')),
    bad('another format', format('"c2sp/receipt@v1"')),
    bad('version 2', format('"vidimus/receipt@v2"'), newer),
    bad('version 2, nothing else', '{"format":"vidimus/receipt@v2","open":7}', newer),
    bad('version without a number', format('"vidimus/receipt@"'), newer),
    bad('version 2, null', '{"format":"vidimus/receipt@v2","open":null}'),
    bad('no keys', text.replace('"keys"', '"keyz"')),
    bad('65 keys', JSON.stringify({ ...example, keys: Array(65).fill(example.keys[0]) })),
    bad('open is a list', JSON.stringify({ ...example, open: [] })),
    bad('origin with a space', text.replaceAll(exampleOrigin, 'verify acme')),
    bad('key of another type', text.replace(vkey, makeKey(exampleOrigin, 1, 4).vkey)),
    bad('key with another id', text.replace(`"${vkey}"`, `"${vkey.replace('+39', '+38')}"`))
  ]
}

/** Logs whose second leaf is any text, so that nothing else is wrong. */
function withLeaf(leaf: string, open: TestReceipt['open'] = openingsOf(all)): TestReceipt {
  return receiptOf(exampleLog({ deposit: leaf }), open)
}

function leafCases(): VerifierCase[] {
  const leaf = depositLeaf()
  const bad = (name: string, text: string, answer = altered) =>
    caseOf(`leaf: ${name}`, withLeaf(text), { answer })
  const without = leaf.replace(/,"sig":"[^"]*"/, '')
  return [
    bad('white space', leaf.replace(',', ', ')),
    bad('other order', `{"v":1,${leaf.slice(1, -6)}}`),
    bad('needless escape', leaf.replace('"orig"', '"\\u006frig"')),
    bad('a field is missing', without),
    bad('short id', leaf.replace('AAECAwQFBgcICQoLDA0ODw', 'AAECAwQFBgcICQoLDA0OD')),
    bad(
      'id with bits after the end',
      leaf.replace('AAECAwQFBgcICQoLDA0ODw', 'AAECAwQFBgcICQoLDA0ODx')
    ),
    bad('commitment with padding', leaf.replace(/(?<="sig":"[^"]*)"/, '="')),
    bad('commitment in the other alphabet', leaf.replace('FDeHzB_', 'FDeHzB/')),
    bad('version true', leaf.replace('"v":1', '"v":true')),
    bad('too long', leaf.replace(/}$/, `,"w":"${'x'.repeat(65_535)}"}`)),
    bad('version 2', leaf.replace('"v":1', '"v":2'), newer),
    bad('another type', '{"type":"status","v":1}', newer),
    bad('a policy', log.leaves[0] ?? '', newer),
    bad('half a policy', '{"type":"policy","v":1}'),
    bad(
      'a policy with another name in its key',
      (log.leaves[0] ?? '').replace('"origin":"verify', '"origin":"werify')
    )
  ]
}

function openingCases(): VerifierCase[] {
  const bad = (
    name: string,
    open: Record<string, unknown>,
    leaf = depositLeaf(),
    answer = altered
  ) => caseOf(`opening: ${name}`, withLeaf(leaf, open as never), { answer })
  const good = openingsOf(all)
  const orig = good['orig']
  const valued = (field: string, value: string) =>
    bad(
      `${field} ${value}`,
      openingsOf([...all, field], { [field]: value }),
      depositLeaf({ [field]: value })
    )
  const zero = 'a\0b'
  const salt = Buffer.alloc(32, 1)
  const commitment = sha256(
    `vidimus/v1/commit\0${exampleOrigin}\0AAECAwQFBgcICQoLDA0ODw\0${zero}\0`,
    salt,
    'x'
  )
  const zeroLeaf = depositLeaf().replace(
    '{"c":{',
    `{"c":{"a\\u0000b":"${commitment.toString('base64url')}",`
  )
  return [
    bad('another value', { ...good, orig: { ...orig, value: `sha256:${'0'.repeat(64)}` } }),
    bad('a number', { ...good, bytes: { ...openingsOf(['bytes'])['bytes'], value: 25 } }),
    bad('no object', { ...good, orig: 'x' }),
    bad('no salt', { ...good, orig: { value: orig?.value } }),
    bad('salt with padding', { ...good, orig: { ...orig, salt: `${orig?.salt}=` } }),
    bad('salt with bits after the end', {
      ...good,
      time: { ...good['time'], salt: `${good['time']?.salt.slice(0, -1)}_` }
    }),
    bad('of another field', { ...good, orig: good['stored'] }),
    bad(
      'name with a zero byte',
      { ...good, [zero]: { salt: salt.toString('base64url'), value: 'x' } },
      zeroLeaf
    ),
    valued('orig', ''),
    valued('stored', 'SHA256:00'),
    ...[
      '2026-02-29T00:00:00Z',
      '2026-11-20T24:00:00Z',
      '2016-12-31T23:59:60Z',
      '2026-11-20T09:28:15.0Z',
      '20260-1-20T09:28:15Z',
      '٢٠٢٦-11-20T09:28:15Z'
    ].map(value => valued('time', value)),
    valued('expires', '2026-00-10T00:00:00Z'),
    valued('expires', '2026-11-20T09:28:15Z\n')
  ]
}

function proofCases(): VerifierCase[] {
  const { proof } = example
  const bad = (name: string, text: string, answer = badProof) =>
    caseOf(`proof: ${name}`, { ...example, proof: text }, { answer })
  const indexed = (index: string) =>
    bad(`index ${index}`, proof.replace('index 1', `index ${index}`))
  const sized = (size: string) => bad(`size ${size}`, proof.replace('/log\n3\n', `/log\n${size}\n`))
  const step = proof.split('\n')[2] ?? ''
  return [
    ...[
      '0',
      '2',
      '3',
      '01',
      '+1',
      '1 ',
      '١',
      '9223372036854775808',
      '18446744073709551617',
      '9'.repeat(5000)
    ].map(indexed),
    ...['0', '1', '03', '9223372036854775807', '9223372036854775808', '18446744073709551619'].map(
      sized
    ),
    bad('extra', proof.replace('index', 'extra AAAA\nindex')),
    bad('empty extra', proof.replace('index', 'extra \nindex')),
    bad('another version', proof.replace('proof@v1', 'proof@v2')),
    bad('carriage returns', proof.replaceAll('\n', '\r\n')),
    bad('one step less', proof.replace(`${step}\n`, '')),
    bad('one step more', proof.replace(`${step}\n`, `${step}\n${step}\n`)),
    bad('64 steps', proof.replace(`${step}\n`, `${step}\n`.repeat(64))),
    bad('short step', proof.replace(step, step.replace(/..=$/, '=='))),
    bad('step with bits after the end', proof.replace(step, step.replace(/.=$/, 'R='))),
    bad('step without padding', proof.replace(step, step.slice(0, -1))),
    bad('no last line feed', proof.slice(0, -1)),
    bad('no signatures', proof.slice(0, proof.indexOf('—'))),
    bad('root flipped', proof.replace('A0qf', 'A0qg'))
  ]
}

function noteCases(): VerifierCase[] {
  const body = bodyOf(log, 3)
  const head = example.proof.slice(0, example.proof.indexOf(body))
  const line = log.key.sign(body)
  const noted = (name: string, lines: string, answer: string) =>
    caseOf(`note: ${name}`, { ...example, proof: `${head}${body}\n${lines}` }, { answer })
  const foreign = makeKey('other.example/log', 5)
  const raw = Buffer.from(line.split(' ')[2] ?? '', 'base64')
  const lineOf = (bytes: Buffer) => `— ${exampleOrigin} ${bytes.toString('base64')}\n`
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const s = littleEndian(raw.subarray(36)) + order
  const big = bytesOf(s)
  const four = `${exampleOrigin}\n3\n${body.split('\n')[2]}\nextension\n`
  return [
    noted(
      'flipped signature',
      lineOf(Buffer.concat([raw.subarray(0, 40), Buffer.alloc(28)])),
      badSignature
    ),
    noted('short signature', lineOf(raw.subarray(0, 67)), badSignature),
    noted('long signature', lineOf(Buffer.concat([raw, Buffer.alloc(1)])), badSignature),
    noted('S above the order', lineOf(Buffer.concat([raw.subarray(0, 36), big])), badSignature),
    noted('twice', line + line, badSignature),
    noted('of another', foreign.sign(body), badSignature),
    noted(
      'another key id',
      lineOf(Buffer.concat([Buffer.alloc(4), raw.subarray(4)])),
      badSignature
    ),
    noted('17 signatures', line + foreign.sign(body).repeat(16), badProof),
    noted('name with a no-break space', `${line}— a\u00a0b AAAAAAA=\n`, badProof),
    noted('name with a plus', `${line}— a+b AAAAAAA=\n`, badProof),
    noted('four bytes', `${line}— a AAAAAA==\n`, badProof),
    noted('hyphen', line.replace('—', '-'), badProof),
    noted('tab', line.replace('— ', '—\t'), badProof),
    noted('wrong padding in a line of another', `${line}— a AAAAAAA\n`, badProof),
    caseOf(
      'note: four lines',
      { ...example, proof: head + noteOf(four, [log.key]) },
      { answer: badProof }
    ),
    caseOf(
      'note: wrong signature of a trusted key',
      { ...example, proof: `${example.proof}${makeKey(exampleOrigin, 6).sign('another text\n')}` },
      { key: makeKey(exampleOrigin, 6).vkey, answer: badSignature }
    )
  ]
}

/** Signatures that only the holder of a key can make, and that libraries judge differently. */
function curveCases(): VerifierCase[] {
  const small = ED25519_TORSION_SUBGROUP.map(hex => Buffer.from(hex, 'hex'))
  const zero = Buffer.alloc(32)
  const identity = Buffer.concat([Buffer.of(1), Buffer.alloc(31)])
  const overflowing = Buffer.concat([Buffer.of(0xee), Buffer.alloc(30, 0xff), Buffer.of(0x7f)])
  const keys = [...small, overflowing].map(point =>
    rawKey(point, () => Buffer.concat([identity, zero]))
  )
  const weak = keys.map((key, i) => {
    const tree: TestLog = { origin: exampleOrigin, key, leaves: log.leaves }
    return caseOf(
      `curve: key of small order ${i}`,
      { ...receiptOf(tree, openingsOf(all)), keys: [] },
      { key: key.vkey, answer: badSignature }
    )
  })
  const shifted = rawKey(publicOf(1), text => signBesideTheGroup(text, 1))
  const tree: TestLog = { origin: exampleOrigin, key: shifted, leaves: log.leaves }
  return [
    ...weak,
    caseOf('curve: signature beside the group', receiptOf(tree, openingsOf(all)), {
      answer: badSignature
    })
  ]
}

function publicOf(seed: number): Buffer {
  return Buffer.from(ed25519.getPublicKey(Buffer.alloc(32, seed)))
}

function rawKey(point: Buffer, signatureOf: (text: string) => Buffer): TestKey {
  const typed = Buffer.concat([Buffer.of(1), point])
  const id = sha256(`${exampleOrigin}\n`, typed).subarray(0, 4)
  return {
    name: exampleOrigin,
    vkey: `${exampleOrigin}+${id.toString('hex')}+${typed.toString('base64')}`,
    sign: text =>
      `— ${exampleOrigin} ${Buffer.concat([id, signatureOf(text)]).toString('base64')}\n`
  }
}

/**
 * Signs as only the holder of the key can: R has a part of order 8, so that only the equation times 8
 * holds. The seed is 32 times the byte `seed`.
 */
export function signBesideTheGroup(text: string, seed: number): Buffer {
  const { Point } = ed25519
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(Buffer.alloc(32, seed))
  const torsion = Point.fromHex(ED25519_TORSION_SUBGROUP[1] ?? '')
  const r = 12_345n
  const R = Buffer.from(Point.BASE.multiply(r).add(torsion).toBytes())
  const digest = createHash('sha512').update(R).update(pointBytes).update(text).digest()
  const k = littleEndian(digest)
  const s = Point.Fn.create(r + k * scalar)
  return Buffer.concat([R, bytesOf(s)])
}

function brokenRotationCases(): VerifierCase[] {
  const { first, second, third, tree, entries, receipt } = rotated()
  const [oldest, middle] = entries
  const bad = (name: string, keys: unknown[], answer: string, change: Change = {}) =>
    caseOf(
      `keys: ${name}`,
      { ...receipt, keys: keys as never },
      { key: first.vkey, answer, ...change }
    )
  const forked: TestLog = { ...tree, leaves: tree.leaves.with(3, '{"other":1}') }
  const fork = (signers: TestKey[]) => ({
    leaf: tree.leaves[2] ?? '',
    proof: proofOf(forked, 2, 4, signers)
  })
  return [
    bad(
      'not signed by the new key',
      [oldest, { ...middle, proof: proofOf(tree, 1, 2, [first]) }],
      badSignature
    ),
    bad('proof of another leaf', [{ ...middle, proof: oldest?.proof }], badProof),
    bad('a deposit', [{ leaf: tree.leaves[3], proof: receipt.proof }], altered),
    bad('not a leaf', [{ leaf: 'x', proof: 'x' }], altered),
    bad('newer', [{ leaf: '{"type":"policy","v":2}', proof: 'x' }], newer),
    bad('newer, another file', [{ leaf: '{"type":"policy","v":2}', proof: 'x' }], newer, {
      file: otherFile
    }),
    bad('two roots, both trusted', [...entries, fork([third])], 'log_broken'),
    bad('two roots, one trusted', [...entries, fork([third])], badProof, {
      key: makeKey(exampleOrigin, 9).vkey
    }),
    bad('two roots, by another key', [fork([second, third])], badProof),
    bad('no proof', [{ leaf: tree.leaves[0] }], altered)
  ]
}

function unusableCases(): VerifierCase[] {
  const bad = (name: string, change: Change) =>
    caseOf(`unusable: ${name}`, example, { key: undefined as never, ...change, answer: 'unusable' })
  const policy = (text: string) => bad(`policy ${text.slice(0, 40)}`, { policy: text })
  const witness = makeKey('witness.example/w1', 4, 4).vkey
  return [
    bad('no key', { key: 'x' }),
    bad('key with another id', { key: vkey.replace('+39', '+38') }),
    bad('key of a witness', { key: witness }),
    policy(`log ${vkey}\n`),
    policy(`log ${vkey}\nlog ${vkey}\nquorum none\n`),
    policy(`log ${vkey}\r\nquorum none\r\n`),
    policy(`logs ${vkey}\nquorum none\n`),
    policy(`log ${vkey}\nquorum w\n`),
    policy(`log ${vkey}\nwitness w ${witness}\nquorum w\n`),
    policy(`group g 2 w\nquorum none\n`)
  ]
}

function flippedCases(random: Random, count: number): VerifierCase[] {
  const names = ['leaf', 'proof', 'keys', 'open', 'log'] as const
  // no more than a success needs, because a changed name only hides a field
  const least = { ...example, open: openingsOf(['orig', 'expires']) }
  return Array.from({ length: count }, (_, i) => {
    const name = names[i % names.length] ?? 'leaf'
    const value = name === 'log' ? least.log.vkey : least[name]
    const region = JSON.stringify(value)
    const text = JSON.stringify(least)
    const at = text.indexOf(region) + random.integer(1, region.length - 2)
    const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << random.integer(0, 4)))
    return caseOf(
      `flipped: ${name}, character ${at}`,
      text.slice(0, at) + flipped + text.slice(at + 1)
    )
  })
}

function littleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`)
}

function bytesOf(scalar: bigint): Uint8Array {
  return Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').toReversed()
}
