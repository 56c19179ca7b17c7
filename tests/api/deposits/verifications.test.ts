import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { listRequests } from '../../../src/contract/requests.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { readConfig } from '../../../src/server/config.ts'
import { makeApp } from '../../helpers/app.ts'

const fingerprints = (count: number) =>
  Array.from({ length: count }, () => ({ sha256: randomBytes(32).toString('hex') }))

test('takes the largest batch of a signed-in person under the limits that are the default', async () => {
  await using app = await makeApp({ settings: { limits: readConfig({}).limits } })
  const ada = await app.signUp()
  expect((await ada.call(verify, { items: fingerprints(1000) })).items).toHaveLength(1000)
  await expect(ada.call(verify, { items: fingerprints(1) })).rejects.toMatchObject({
    code: 'lookup_limited'
  })
  app.wait(61)
})

test('asks a stranger to wait after sixty fingerprints a minute', async () => {
  await using app = await makeApp({ settings: { limits: readConfig({}).limits } })
  const ask = (count: number, address = '192.0.2.7') =>
    app.call('acme.localhost', verify, { items: fingerprints(count) }, { address })
  for (let batch = 0; batch < 3; batch++) await ask(20)
  await expect(ask(1)).rejects.toMatchObject({ code: 'lookup_limited', status: 429 })
  await expect(ask(20, '192.0.2.8')).resolves.toBeDefined()
})

test('takes a fingerprint in either case, and says what it wants of another', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const bytes = randomBytes(100)
  await app.deposit(ada, bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const asked = { items: [{ sha256: sha256.toUpperCase() }] }
  const { items } = await app.call('acme.localhost', verify, asked)
  expect(items).toMatchObject([{ sha256, verdict: 'authentic' }])

  const answer = await app.request('api.acme.localhost', {
    method: 'POST',
    path: verify.path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ items: [{ sha256: `sha256:${sha256}`, size: 3 }] })
  })
  expect(JSON.parse(answer.body.toString())).toMatchObject({
    code: 'invalid_input',
    detail:
      'Refused. Wanted: items.0.sha256 (64 hexadecimal digits); items.0.size (no field of this call)',
    fields: {
      'items.0.sha256': { rule: 'regex', detail: '64 hexadecimal digits' },
      'items.0.size': { rule: 'unknown', detail: 'no field of this call' }
    }
  })
})

test('keeps the answer small however often a file was deposited, and tells the first record', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const bytes = randomBytes(100)
  const first = await app.deposit(ada, bytes)
  for (let again = 0; again < 4; again++) await app.deposit(ada, bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const { items } = await app.call('acme.localhost', verify, { items: [{ sha256 }] })
  expect(items[0]?.findings).toMatchObject([{ match: 'original', leaf_hash: first.leaf_hash }])
})

test('tells how many records there are, the first, and the caller’s own', async () => {
  await using app = await makeApp()
  const [ada, ben, carl] = [await app.signUp(), await app.signUp(), await app.signUp()]
  const bytes = randomBytes(100)
  const first = await app.deposit(ada, bytes)
  const second = await app.deposit(ben, bytes)
  await app.deposit(ben, bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const ask = async (person?: typeof ada) => {
    const input = { items: [{ sha256 }, { sha256: 'a'.repeat(64) }] }
    const { items } = await (person
      ? person.call(verify, input)
      : app.call(ada.host, verify, input))
    expect(items[1]).toMatchObject({ verdict: 'not_found', records: 0 })
    expect(items[1]?.own).toBeUndefined()
    expect(items[0]).toMatchObject({
      records: 3,
      findings: [{ match: 'original', leaf_hash: first.leaf_hash }]
    })
    return items[0]?.own
  }
  expect(await ask(ada)).toMatchObject({
    leaf_hash: first.leaf_hash,
    deposit_id: first.deposit_id,
    request_id: first.id
  })
  expect(await ask(ben)).toMatchObject({ leaf_hash: second.leaf_hash, request_id: second.id })
  expect(await ask(carl)).toBeUndefined()
  expect(await ask()).toBeUndefined()
})

test('names the person’s own deposit in the history of checks, in every browser', async () => {
  await using app = await makeApp()
  const [ada, ben] = [await app.signUp(), await app.signUp()]
  const bytes = randomBytes(100)
  const { name } = await app.deposit(ada, bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  for (const person of [ada, ben]) await person.call(verify, { items: [{ sha256 }] })
  const [check] = await ada.call(listRequests, { kind: 'verify' })
  expect(check?.name).toBe(name)
  expect(name).toBeDefined()
  expect(await ada.call(listRequests, { q: name, kind: 'verify' })).toHaveLength(1)
  expect((await ben.call(listRequests, { kind: 'verify' }))[0]?.name).toBeUndefined()

  const unknown = { sha256: 'a'.repeat(64) }
  await ada.call(verify, { items: [unknown, { sha256 }] })
  const [several] = await ada.call(listRequests, { kind: 'verify' })
  expect(several).toMatchObject({ name, items: { asked: 2, authentic: 1 } })
  expect(several?.verdict).toBeUndefined()
})
