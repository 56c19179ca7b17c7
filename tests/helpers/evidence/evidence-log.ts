import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto'

/**
 * A log written a second time, with OpenSSL and by the definitions, so that the tests do not ask
 * the product what is right.
 */
export interface TestLog {
  origin: string
  key: TestKey
  /** Texts of the leaves. The first is the policy. */
  leaves: string[]
}

export interface TestKey {
  name: string
  vkey: string
  /** Returns a signature line. `before` precedes the signature in it. */
  sign(text: string, before?: Buffer): string
}

export interface TestReceipt {
  format: string
  keys: { leaf: string; proof: string }[]
  leaf: string
  log: { name: string; origin: string; vkey: string }
  open: Record<string, { salt: string; value: string }>
  proof: string
  timestamps: unknown[]
  [member: string]: unknown
}

export const exampleOrigin = 'verify.acme.example/log'
export const exampleFile = 'Vidimus example document\n'
export const exampleDigest = `sha256:${createHash('sha256').update(exampleFile).digest('hex')}`
export const exampleId = idOf(0)

const linkKey = Buffer.from(Array.from({ length: 32 }, (_, i) => 0x20 + i))

/** The seed is 32 times the byte `seed`. */
export function makeKey(name: string, seed: number, type = 1): TestKey {
  const der = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.alloc(32, seed)
  ])
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const point = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32)
  const typed = Buffer.concat([Buffer.of(type), point])
  const id = sha256(`${name}\n`, typed).subarray(0, 4)
  return {
    name,
    vkey: `${name}+${id.toString('hex')}+${typed.toString('base64')}`,
    sign: (text, before = Buffer.alloc(0)) => {
      const signature = sign(null, Buffer.from(text), secret)
      return `— ${name} ${Buffer.concat([id, before, signature]).toString('base64')}\n`
    }
  }
}

export function policyLeaf(origin: string, key: TestKey, id = idOf(16)): string {
  return JSON.stringify({
    answers: makeKey(`${origin}/answers`, 2).vkey,
    id,
    log: key.vkey,
    origin,
    platform: makeKey('vidimus.example/platform-log', 3).vkey,
    type: 'policy',
    v: 1
  })
}

/** The published example: a policy, a deposit, and the text `{}`. */
export function exampleLog(changes: { deposit?: string; origin?: string; seed?: number } = {}) {
  const { origin = exampleOrigin, seed = 1 } = changes
  const key = makeKey(origin, seed)
  const deposit = changes.deposit ?? depositLeaf({}, origin)
  return { origin, key, leaves: [policyLeaf(origin, key), deposit, '{}'] }
}

/** The example's leaf, with other values. */
export function depositLeaf(values: Record<string, string> = {}, origin = exampleOrigin): string {
  const all: Record<string, string> = { ...exampleValues, ...values }
  const names = Object.keys(all).sort()
  const commitments = names.map(name => [
    name,
    values['actor'] === undefined && name === 'actor' && origin === exampleOrigin
      ? 'NX5q2dQVleveJRXmb9CYFDeHzB_UgcYw4o8yWP1ETb8'
      : commit(origin, name, all[name] ?? '')
  ])
  return JSON.stringify({
    c: Object.fromEntries(commitments),
    id: exampleId,
    type: 'deposit',
    v: 1
  })
}

/** Opens fields of `depositLeaf(values)`. */
export function openingsOf(names: string[], values: Record<string, string> = {}) {
  const all: Record<string, string> = { ...exampleValues, ...values }
  return Object.fromEntries(
    names.map(name => [name, { salt: saltOf(name).toString('base64url'), value: all[name] ?? '' }])
  )
}

/** A receipt at the log's present size. Its members are in canonical order. */
export function receiptOf(
  log: TestLog,
  open: TestReceipt['open'],
  { index = 1, size = log.leaves.length } = {}
): TestReceipt {
  return {
    format: 'vidimus/receipt@v1',
    keys: [{ leaf: log.leaves[0] ?? '', proof: proofOf(log, 0, 1) }],
    leaf: log.leaves[index] ?? '',
    log: { name: 'ACME', origin: log.origin, vkey: log.key.vkey },
    open,
    proof: proofOf(log, index, size),
    timestamps: []
  }
}

/** A proof whose checkpoint these keys have signed. */
export function proofOf(log: TestLog, index: number, size: number, keys = [log.key]): string {
  const hashes = log.leaves.slice(0, size).map(leaf => sha256('\0', leaf))
  const steps = pathOf(index, hashes).map(hash => `${hash.toString('base64')}\n`)
  const note = noteOf(bodyOf(log, size), keys)
  return `c2sp.org/tlog-proof@v1\nindex ${index}\n${steps.join('')}\n${note}`
}

/** The text of a checkpoint. */
export function bodyOf({ origin, leaves }: TestLog, size: number): string {
  const hashes = leaves.slice(0, size).map(leaf => sha256('\0', leaf))
  return `${origin}\n${size}\n${rootOf(hashes).toString('base64')}\n`
}

export function noteOf(text: string, keys: TestKey[]): string {
  return `${text}\n${keys.map(key => key.sign(text)).join('')}`
}

/** RFC 6962, section 2.1, as it is defined there. */
export function rootOf(hashes: Buffer[]): Buffer {
  const [only] = hashes
  if (!only) return sha256()
  if (hashes.length === 1) return only
  const split = splitOf(hashes.length)
  return sha256('\x01', rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split)))
}

/** RFC 6962, section 2.1.1. */
function pathOf(index: number, hashes: Buffer[]): Buffer[] {
  if (hashes.length === 1) return []
  const split = splitOf(hashes.length)
  const [left, right] = [hashes.slice(0, split), hashes.slice(split)]
  return index < split
    ? [...pathOf(index, left), rootOf(right)]
    : [...pathOf(index - split, right), rootOf(left)]
}

export function sha256(...parts: (string | Buffer)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const exampleValues = {
  actor: '{"account":"EBESExQVFhcYGRobHB0eHw","label":"Ada"}',
  bytes: '25',
  category: 'Contracts',
  expires: '',
  media: 'text/plain',
  name: 'example.txt',
  orig: exampleDigest,
  sig: '',
  stored: exampleDigest,
  time: '2026-11-20T09:28:15Z',
  transform: '',
  visibility: 'public'
}

function commit(origin: string, name: string, value: string): string {
  const names = ['vidimus/v1/commit', origin, exampleId, name, ''].join('\0')
  return sha256(names, saltOf(name), value).toString('base64url')
}

function saltOf(name: string): Buffer {
  if (name !== 'orig' && name !== 'stored') return sha256(`vidimus/v1/example-salt/${name}`)
  return createHmac('sha256', linkKey).update(`vidimus/v1/salt\0${name}`).digest()
}

function idOf(first: number): string {
  return Buffer.from(Array.from({ length: 16 }, (_, i) => first + i)).toString('base64url')
}

function splitOf(size: number): number {
  return 2 ** Math.floor(Math.log2(size - 1))
}
