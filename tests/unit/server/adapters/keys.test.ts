import { createHash, createHmac, hkdfSync } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openInstallationKeys, rotateTokenKey } from '../../../../src/server/adapters/keys.ts'
import { makeTemporaryFolder } from '../../../helpers/temporary-folder.ts'

test('makes a root secret and a token key that only their owner can read', async () => {
  const directory = await newDirectory()
  const keys = await open(directory)

  const names = (await readdir(directory)).sort()
  expect(names).toEqual([`kek-${keys.rootSecretId}.key`, `token-${keys.signingKey().kid}.jwk`])
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  for (const name of names) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600)
})

test('finds the same secrets again', async () => {
  const directory = await newDirectory()
  const first = await open(directory)
  const second = await open(directory, { recordedRootSecretId: first.rootSecretId })

  expect(second.rootSecretId).toBe(first.rootSecretId)
  expect(second.signingKey().kid).toBe(first.signingKey().kid)
  expect(second.mac('device', 'x')).toEqual(first.mac('device', 'x'))
  expect(second.open(first.seal(Buffer.from('a'), 'here'), 'here').toString()).toBe('a')
})

test('goes on after a first start that died before its database named the keys', async () => {
  const directory = await newDirectory()
  const first = await open(directory)
  const second = await open(directory)
  expect(second.rootSecretId).toBe(first.rootSecretId)
})

test('names the root secret by its hash and derives a key for each label', async () => {
  const directory = await newDirectory()
  const keys = await open(directory)
  const secret = await rootSecret(directory, keys.rootSecretId)

  expect(keys.rootSecretId).toBe(createHash('sha256').update(secret).digest('hex').slice(0, 8))
  const labels = ['challenge', 'pseudonym', 'link', 'device', 'repetition'] as const
  const macs = labels.map(label => keys.mac(label, 'same text').toString('hex'))
  expect(new Set(macs).size).toBe(5)
  const linkKey = Buffer.from(hkdfSync('sha256', secret, '', 'vidimus/v1/link', 32))
  expect(macs[2]).toBe(createHmac('sha256', linkKey).update('same text').digest('hex'))
})

test('opens sealed bytes only in their place and whole', async () => {
  const keys = await open(await newDirectory())
  const sealed = keys.seal(Buffer.from('secret'), 'row 1')

  expect(sealed).toHaveLength(12 + 6 + 16)
  expect(sealed.includes('secret')).toBe(false)
  expect(() => keys.open(sealed, 'row 2')).toThrow()
  for (const at of sealed.keys()) {
    const flipped = Buffer.from(sealed)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    expect(() => keys.open(flipped, 'row 1'), `byte ${at}`).toThrow()
  }
  expect(() => keys.open(sealed.subarray(0, 20), 'row 1')).toThrow()
})

test('seals the same bytes alike where they are to be found again, and in no other place', async () => {
  const keys = await open(await newDirectory())
  const sealed = keys.sealSame(Buffer.from('secret'), 'row 1')
  expect(keys.sealSame(Buffer.from('secret'), 'row 1')).toEqual(sealed)
  expect(keys.open(sealed, 'row 1').toString()).toBe('secret')
  expect(() => keys.open(sealed, 'row 2')).toThrow()
  for (const other of [
    keys.sealSame(Buffer.from('secret'), 'row 2'),
    keys.sealSame(Buffer.from('secre7'), 'row 1'),
    keys.sealSame(Buffer.from('1|secret'), 'row ')
  ]) {
    expect(other.subarray(0, 12)).not.toEqual(sealed.subarray(0, 12))
  }
})

test('seals the same bytes differently each time', async () => {
  const keys = await open(await newDirectory())
  expect(keys.seal(Buffer.from('a'), 'x')).not.toEqual(keys.seal(Buffer.from('a'), 'x'))
})

test('signs with the newest valid token key and knows the others', async () => {
  const [directory, other] = [await newDirectory(), await newDirectory()]
  const first = await open(directory)
  const later = await open(other)
  const file = await tokenFile(directory, first.signingKey().kid)
  const next = await tokenFile(other, later.signingKey().kid)
  await writeFile(
    join(directory, `token-${next.kid}.jwk`),
    JSON.stringify({ ...next, not_before: '2030-01-01T00:00:00.000Z' }),
    { mode: 0o600 }
  )
  const at = (clock: string) =>
    open(directory, { recordedRootSecretId: first.rootSecretId, clock: () => new Date(clock) })

  expect((await at('2029-12-31T23:59:59Z')).signingKey().kid).toBe(file.kid)
  expect((await at('2030-01-01T00:00:00Z')).signingKey().kid).toBe(next.kid)
  expect((await at('2029-12-31T23:59:59Z')).verifyingKey(next.kid)).toBeDefined()
  expect((await at('2030-01-01T00:00:00Z')).verifyingKey(file.kid)).toBeDefined()
  expect(first.verifyingKey('../kek')).toBeUndefined()
})

test('rotates while others run: known at once, signing after ten minutes, alone after a day', async () => {
  const directory = await newDirectory()
  let now = Date.parse('2030-01-01T00:00:00Z')
  const clock = () => new Date(now)
  const running = await open(directory, { clock })
  const before = running.signingKey().kid

  const { kid, validFrom } = await rotateTokenKey({ directory, clock })
  expect(validFrom.toISOString()).toBe('2030-01-01T00:10:00.000Z')
  expect(running.verifyingKey(kid)).toBeUndefined()
  await running.reload()
  expect(running.verifyingKey(kid)).toBeDefined()
  expect(running.signingKey().kid).toBe(before)

  now += 10 * 60_000
  expect(running.signingKey().kid).toBe(kid)
  expect(running.verifyingKey(before)).toBeDefined()

  now += 24 * 3_600_000 - 1
  await running.reload()
  expect(running.verifyingKey(before)).toBeDefined()
  now += 1
  await running.reload()
  expect(running.verifyingKey(before)).toBeUndefined()
  expect(running.signingKey().kid).toBe(kid)
  expect((await readdir(directory)).filter(name => name.startsWith('token-'))).toEqual([
    `token-${kid}.jwk`
  ])
})

test('keeps the key that it has read before, so that what was proven with it stays proven', async () => {
  const running = await open(await newDirectory())
  const { kid } = running.signingKey()
  const key = running.verifyingKey(kid)
  await running.reload()
  expect(running.verifyingKey(kid)).toBe(key)
})

test('goes on with the keys it has when the folder cannot be read', async () => {
  const directory = await newDirectory()
  const running = await open(directory)
  const { kid } = running.signingKey()
  await writeFile(await nameOf(directory, 'token'), '{}')
  await expect(running.reload()).rejects.toThrow(/is damaged/)
  expect(running.signingKey().kid).toBe(kid)
  expect(running.verifyingKey(kid)).toBeDefined()
})

test('keeps its private keys to itself', async () => {
  const keys = await open(await newDirectory())
  expect(Object.keys(keys.signingKey())).toEqual(['kid', 'sign'])
})

const refusals = {
  'a database that names another root secret': {
    recordedRootSecretId: () => '00000000',
    says: /kek-00000000\.key is missing/
  },
  'a folder that others can enter': {
    spoil: (directory: string) => chmod(directory, 0o750),
    says: /keys is open to others: chmod 0700/
  },
  'a root secret that others can read': {
    spoil: async (directory: string) => chmod(await nameOf(directory, 'kek'), 0o640),
    says: /\.key is open to others: chmod 0600/
  },
  'a token key that others can read': {
    spoil: async (directory: string) => chmod(await nameOf(directory, 'token'), 0o604),
    says: /\.jwk is open to others: chmod 0600/
  },
  'a root secret of other bytes': {
    spoil: async (directory: string) =>
      writeFile(await nameOf(directory, 'kek'), `${'ab'.repeat(32)}\n`),
    says: /\.key is damaged/
  },
  'a cut root secret': {
    spoil: async (directory: string) => writeFile(await nameOf(directory, 'kek'), 'abcd\n'),
    says: /\.key is damaged/
  },
  'a token key of another form': {
    spoil: async (directory: string) => writeFile(await nameOf(directory, 'token'), '{}'),
    says: /\.jwk is damaged/
  },
  'a token key under the name of another': {
    spoil: async (directory: string) =>
      writeFile(
        join(directory, 'token-0123456789abcdef.jwk'),
        await readFile(await nameOf(directory, 'token')),
        { mode: 0o600 }
      ),
    says: /\.jwk is damaged/
  },
  'a lost token key': {
    spoil: async (directory: string) => rm(await nameOf(directory, 'token')),
    says: /holds no token key/
  },
  'a lost folder': {
    spoil: (directory: string) => rm(directory, { recursive: true }),
    says: /keys is missing/
  }
}

test.for(Object.entries(refusals))('refuses to start with %s', async ([, refusal]) => {
  const directory = await newDirectory()
  const { rootSecretId } = await open(directory)
  if ('spoil' in refusal) await refusal.spoil(directory)
  const recordedRootSecretId =
    'recordedRootSecretId' in refusal ? refusal.recordedRootSecretId() : rootSecretId

  await expect(open(directory, { recordedRootSecretId })).rejects.toThrow(refusal.says)
})

test('makes no second root secret beside one that a database names', async () => {
  const directory = await newDirectory()
  await mkdir(directory, { mode: 0o700 })
  await expect(open(directory, { recordedRootSecretId: '00000000' })).rejects.toThrow()
  expect(await readdir(directory)).toEqual([])
})

test('refuses to choose between two root secrets', async () => {
  const directory = await newDirectory()
  await open(directory)
  const other = Buffer.alloc(32, 7)
  const id = createHash('sha256').update(other).digest('hex').slice(0, 8)
  await writeFile(join(directory, `kek-${id}.key`), other.toString('hex'), { mode: 0o600 })
  await expect(open(directory)).rejects.toThrow(/leave only one/)
})

test('takes the root secret that it is given, if the data is encrypted with it', async () => {
  const directory = await newDirectory()
  const { rootSecretId } = await open(directory)
  const [file] = (await readdir(directory)).filter(name => name.startsWith('kek-'))
  const rootSecret = Buffer.from(await readFile(join(directory, String(file)), 'utf8'), 'hex')
  await rm(join(directory, String(file)))
  const given = { recordedRootSecretId: rootSecretId, rootSecret }
  expect((await open(directory, given)).rootSecretId).toBe(rootSecretId)
  const other = { ...given, rootSecret: Buffer.alloc(32, 7) }
  await expect(open(directory, other)).rejects.toThrow(`is encrypted with ${rootSecretId}`)
  const fresh = await newDirectory()
  await open(fresh, { recordedRootSecretId: undefined, rootSecret })
  expect((await readdir(fresh)).some(name => name.startsWith('kek-'))).toBe(false)
})

async function newDirectory(): Promise<string> {
  return join(await makeTemporaryFolder(), 'keys')
}

function open(
  directory: string,
  options: Partial<Parameters<typeof openInstallationKeys>[0]> = {}
) {
  return openInstallationKeys({
    directory,
    recordedRootSecretId: undefined,
    clock: () => new Date(),
    ...options
  })
}

async function nameOf(directory: string, prefix: string): Promise<string> {
  const name = (await readdir(directory)).find(each => each.startsWith(prefix))
  return join(directory, name ?? 'none')
}

async function rootSecret(directory: string, rootSecretId: string): Promise<Buffer> {
  const text = await readFile(join(directory, `kek-${rootSecretId}.key`), 'utf8')
  return Buffer.from(text.trim(), 'hex')
}

async function tokenFile(directory: string, kid: string): Promise<{ kid: string }> {
  return JSON.parse(await readFile(join(directory, `token-${kid}.jwk`), 'utf8'))
}
