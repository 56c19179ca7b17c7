import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes
} from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import type { InstallationKeys } from '../domain/deps.ts'
import { signEs256 } from '../domain/es256.ts'
import { replaceFile } from './durable-files.ts'

export interface InstallationKeysOptions {
  directory: string
  /** Undefined if the database is empty; keys are created only then. */
  recordedRootSecretId: string | undefined
  /** Instead of the one in `directory`. */
  rootSecret?: Buffer
  clock: () => Date
}

// the service must not start with wrong keys, because nobody could sign in
class KeysRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'KeysRefused'
  }
}

/** Creates the secrets if the database is empty. */
export async function openInstallationKeys({
  directory,
  recordedRootSecretId,
  rootSecret,
  clock
}: InstallationKeysOptions): Promise<InstallationKeys> {
  if (recordedRootSecretId === undefined) await mkdir(directory, { recursive: true, mode: 0o700 })
  await refuseLooseMode(directory, '0700')
  const names = (await readdir(directory)).sort()
  if (rootSecret) refuseOtherRootSecret(rootSecret, recordedRootSecretId)
  const secret = rootSecret ?? (await openRootSecret(directory, names, recordedRootSecretId))
  const tokenKeys = await openTokenKeys(directory, names, {
    make: recordedRootSecretId === undefined
  })
  return keysOf(secret, tokenKeys, { directory, clock })
}

// so long every process has time to load a new key
const announcedMinutes = 10
// by then every token that a replaced key signed has expired
const replacedHours = 24

/** By the time it signs, ten minutes later, every running process has loaded it. */
export async function rotateTokenKey({
  directory,
  clock
}: Pick<InstallationKeysOptions, 'directory' | 'clock'>): Promise<{
  kid: string
  validFrom: Date
}> {
  const validFrom = new Date(clock().getTime() + announcedMinutes * 60_000)
  const { kid } = await makeTokenKey(directory, validFrom)
  return { kid, validFrom }
}

type Label = 'seal' | 'nonce' | 'challenge' | 'pseudonym' | 'link' | 'device' | 'repetition'

interface TokenKey {
  kid: string
  notBefore: number
  sign(text: string): Buffer
  verifying: CryptoKey
}

function keysOf(
  secret: Buffer,
  found: TokenKey[],
  { directory, clock }: Pick<InstallationKeysOptions, 'directory' | 'clock'>
): InstallationKeys {
  // key objects, because importing a key for each call costs more than using it
  const derive = (label: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `vidimus/v1/${label}`, 32)))
  const derived: Record<Label, KeyObject> = {
    seal: derive('seal'),
    nonce: derive('nonce'),
    challenge: derive('challenge'),
    pseudonym: derive('pseudonym'),
    link: derive('link'),
    device: derive('device'),
    repetition: derive('repetition')
  }
  let newestFirst = sortNewestFirst(found)
  // The cache of verified tokens compares these objects: with a new one, it would verify every
  // token of the key again.
  const sameAsBefore = (read: TokenKey): TokenKey => {
    const known = newestFirst.find(({ kid }) => kid === read.kid)
    return known ? { ...read, verifying: known.verifying } : read
  }
  return {
    rootSecretId: idOf(secret),
    mac: (label, text) => createHmac('sha256', derived[label]).update(text).digest(),
    seal: (plain, aad) => seal(derived.seal, randomBytes(12), plain, aad),
    sealSame(plain, aad) {
      // the nonce is derived from the message, so it repeats only for the same message
      const message = createHmac('sha256', derived.nonce)
        .update(`${aad.length}|${aad}|`)
        .update(plain)
      return seal(derived.seal, message.digest().subarray(0, 12), plain, aad)
    },
    open(sealed, aad) {
      if (sealed.length < 28) throw new Error('keys: sealed bytes are too short')
      const options = { authTagLength: 16 }
      const cipher = createDecipheriv('aes-256-gcm', derived.seal, sealed.subarray(0, 12), options)
      cipher.setAAD(Buffer.from(aad)).setAuthTag(sealed.subarray(-16))
      return Buffer.concat([cipher.update(sealed.subarray(12, -16)), cipher.final()])
    },
    signingKey() {
      const now = clock().getTime()
      // a newer key already verifies but does not sign yet
      const current = newestFirst.find(({ notBefore }) => notBefore <= now) ?? newestFirst.at(-1)
      if (!current) throw new Error('keys: no token key')
      return { kid: current.kid, sign: current.sign }
    },
    verifyingKey: kid => newestFirst.find(each => each.kid === kid)?.verifying,
    async reload() {
      const names = await readdir(directory)
      const read = sortNewestFirst(await openTokenKeys(directory, names, { make: false })).map(
        sameAsBefore
      )
      const before = clock().getTime() - replacedHours * 3_600_000
      const lasting = read.find(({ notBefore }) => notBefore <= before)
      const isOver = ({ notBefore }: TokenKey) => lasting && notBefore < lasting.notBefore
      newestFirst = read.filter(tokenKey => !isOver(tokenKey))
      for (const { kid } of read.filter(isOver)) {
        await rm(join(directory, `token-${kid}.jwk`), { force: true })
      }
    }
  }
}

function seal(key: KeyObject, nonce: Buffer, plain: Uint8Array, aad: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(aad))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function sortNewestFirst(tokenKeys: TokenKey[]): TokenKey[] {
  return tokenKeys.toSorted((a, b) => b.notBefore - a.notBefore)
}

function refuseOtherRootSecret(given: Buffer, recordedId: string | undefined): void {
  if (recordedId === undefined || idOf(given) === recordedId) return
  throw new KeysRefused(
    `VIDIMUS_KEK is the root secret ${idOf(given)}, but the data in the database is encrypted with ${recordedId}: give that one`
  )
}

async function openRootSecret(
  directory: string,
  names: string[],
  recordedRootSecretId: string | undefined
): Promise<Buffer> {
  const found = names.filter(name => /^kek-[0-9a-f]{8}\.key$/.test(name))
  if (recordedRootSecretId !== undefined) {
    const name = `kek-${recordedRootSecretId}.key`
    if (found.includes(name)) return readRootSecret(directory, name)
    throw new KeysRefused(
      `${join(directory, name)} is missing. The data in the database is encrypted with it: restore it from your backup of the keys folder`
    )
  }
  const [name, ...others] = found
  if (others.length > 0) {
    throw new KeysRefused(
      `${directory} holds ${found.join(' and ')} for an empty database: leave only one`
    )
  }
  if (name !== undefined) return readRootSecret(directory, name)
  const secret = randomBytes(32)
  await replaceFile(join(directory, `kek-${idOf(secret)}.key`), `${secret.toString('hex')}\n`)
  return secret
}

async function readRootSecret(directory: string, name: string): Promise<Buffer> {
  const text = await readSecret(directory, name)
  const secret = Buffer.from(text.trim(), 'hex')
  if (!/^[0-9a-f]{64}\n?$/.test(text) || name !== `kek-${idOf(secret)}.key`) {
    throw new KeysRefused(
      `${join(directory, name)} is damaged: restore it from your backup of the keys folder`
    )
  }
  return secret
}

function idOf(secret: Buffer): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 8)
}

const TokenKeyFile = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
  not_before: z.iso.datetime()
})
type TokenKeyFile = z.infer<typeof TokenKeyFile>

const curve = { name: 'ECDSA', namedCurve: 'P-256' }

async function openTokenKeys(
  directory: string,
  names: string[],
  { make }: { make: boolean }
): Promise<TokenKey[]> {
  const found = names.filter(name => /^token-[0-9a-f]{16}\.jwk$/.test(name))
  if (found.length === 0 && !make) {
    throw new KeysRefused(
      `${directory} holds no token key (token-*.jwk): restore it from your backup of this folder`
    )
  }
  // the first key is valid at once, whatever time the clock shows
  if (found.length === 0) return [await importTokenKey(await makeTokenKey(directory, new Date(0)))]
  return Promise.all(found.map(name => readTokenKey(directory, name)))
}

async function readTokenKey(directory: string, name: string): Promise<TokenKey> {
  const text = await readSecret(directory, name)
  try {
    const file = TokenKeyFile.parse(JSON.parse(text))
    if (name === `token-${kidOf(file)}.jwk` && file.kid === kidOf(file)) {
      return await importTokenKey(file)
    }
  } catch (cause) {
    throw damaged(directory, name, cause)
  }
  throw damaged(directory, name)
}

function damaged(directory: string, name: string, cause?: unknown): KeysRefused {
  return new KeysRefused(
    `${join(directory, name)} is damaged: restore it from your backup of the keys folder, or delete it if there is another token-*.jwk`,
    { cause }
  )
}

async function makeTokenKey(directory: string, validFrom: Date): Promise<TokenKeyFile> {
  const pair = await crypto.subtle.generateKey(curve, true, ['sign', 'verify'])
  const { x = '', y = '', d = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  const file: TokenKeyFile = {
    kty: 'EC',
    crv: 'P-256',
    x,
    y,
    d,
    kid: kidOf({ x, y }),
    not_before: validFrom.toISOString()
  }
  await replaceFile(join(directory, `token-${file.kid}.jwk`), `${JSON.stringify(file)}\n`)
  return file
}

async function importTokenKey(file: TokenKeyFile): Promise<TokenKey> {
  const { kty, crv, x, y, d, kid } = file
  const key = createPrivateKey({ key: { kty, crv, x, y, d }, format: 'jwk' })
  return {
    kid,
    notBefore: Date.parse(file.not_before),
    // not with Web Crypto, whose switch to another thread takes longer than the signature
    sign: text => signEs256(key, text),
    verifying: await crypto.subtle.importKey('jwk', { kty, crv, x, y }, curve, true, ['verify'])
  }
}

function kidOf({ x, y }: { x: string; y: string }): string {
  return createHash('sha256').update(`${x}.${y}`).digest('hex').slice(0, 16)
}

async function readSecret(directory: string, name: string): Promise<string> {
  const path = join(directory, name)
  await refuseLooseMode(path, '0600')
  return readFile(path, 'utf8').catch(cause => {
    throw new KeysRefused(`${path} cannot be read`, { cause })
  })
}

async function refuseLooseMode(path: string, allowed: '0700' | '0600'): Promise<void> {
  const found = await stat(path).catch(cause => {
    throw new KeysRefused(`${path} is missing: restore it from your backup of the keys folder`, {
      cause
    })
  })
  // Windows has no such permission bits
  if (process.platform === 'win32' || (found.mode & 0o077) === 0) return
  throw new KeysRefused(`${path} is open to others: chmod ${allowed} ${path}`)
}
