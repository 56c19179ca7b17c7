import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { getDomainConfig } from '../../../src/contract/domains.ts'
import { getChallenge } from '../../../src/contract/sessions.ts'
import { createFirstOperator, getSetup } from '../../../src/contract/setup.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { inCompany } from '../../../src/server/db/scope.ts'
import { createEmptyDemo, findDemo } from '../../../src/server/domain/demo/demo.ts'
import { createSetupCode } from '../../../src/server/domain/installation/setup.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { makeKeys } from '../../helpers/keys.ts'

const host = 'acme.localhost' // the oldest company is the installation's own

let app: TestApp
beforeAll(async () => {
  app = await makeApp()
})
beforeEach(async () => {
  await app.owner.query(`update "user" set permissions = '{}'; delete from setup_code`)
})
afterAll(() => app[Symbol.asyncDispose]())

test('makes the first operator, who administers the installation’s company', async () => {
  const operator = await prepare()
  const answer = await app.call(host, createFirstOperator, operator.input)
  expect(answer.demo).toBe('none')
  const token = await app.signIn({ host, ...operator })

  const user = await app.call(host, getOwnAccount, {}, { token })
  expect(user).toMatchObject({
    id: answer.id,
    permissions: ['operator', 'admin'],
    features: ['deposit'],
    company: { name: 'Orchard' }
  })
  const config = await app.call(host, getDomainConfig, { domain: host })
  expect(config).toMatchObject({ company: 'Orchard', name: 'Orchard', title: 'Orchard' })
})

test('is gone once there is an operator', async () => {
  const first = await prepare()
  const second = await prepare()
  await app.call(host, createFirstOperator, first.input)

  await expect(app.call(host, createFirstOperator, second.input)).rejects.toMatchObject({
    code: 'not_found'
  })
  await expect(app.call(host, getSetup, {})).rejects.toMatchObject({ code: 'not_found' })
  expect(await createSetupCode(app.deps)).toBeUndefined()
  expect(await codes()).toBe(0)
})

test('makes one operator of ten who try at the same time', async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => prepare()))
  const { code } = (await prepare()).input
  const tries = all.map(each =>
    app.call(host, createFirstOperator, { ...each.input, code }, { address: each.email })
  )
  const outcomes = await Promise.allSettled(tries)
  expect(outcomes.filter(each => each.status === 'fulfilled')).toHaveLength(1)
  const { rows } = await app.owner.query(
    `select count(*)::int as count from "user" where 'operator' = any (permissions)`
  )
  expect(rows[0].count).toBe(1)
})

test('answers on no other company’s host', async () => {
  const operator = await prepare('beta.localhost')
  const refusal = { code: 'not_found' }
  const asked = app.call('beta.localhost', getSetup, {})
  await expect(asked).rejects.toMatchObject(refusal)
  const tried = app.call('beta.localhost', createFirstOperator, operator.input)
  await expect(tried).rejects.toMatchObject(refusal)
})

test('keeps the codes of the five newest starts, and none in plain text', async () => {
  const made: string[] = []
  for (let start = 0; start < 6; start++) {
    made.push((await createSetupCode(app.deps))?.code ?? '')
    app.wait(1)
  }
  expect(await codes()).toBe(5)
  const { rows } = await app.owner.query('select setup_code::text as row from setup_code')
  for (const code of made) {
    expect(code).toMatch(/^[\w-]{21}[AQgw]$/)
    expect(rows.map(each => each.row).join()).not.toContain(code)
  }
  const refused = app.call(host, createFirstOperator, await inputWith(made[0] ?? ''))
  await expect(refused).rejects.toMatchObject({ code: 'setup_code_wrong' })
  await app.call(host, createFirstOperator, await inputWith(made[1] ?? ''))
})

test('leaves the code for another try when the rest was wrong', async () => {
  const operator = await prepare()
  const stale = { ...operator.input, email: 'other@example.com' }
  await expect(app.call(host, createFirstOperator, stale)).rejects.toMatchObject({
    code: 'key_invalid'
  })
  await app.call(host, createFirstOperator, operator.input)
})

test('takes ten wrong codes of an address an hour, and right ones for nothing', async () => {
  const address = '198.51.100.7'
  const { input } = await prepare()
  const attempt = (code: string) =>
    app.call(host, createFirstOperator, { ...input, code }, { address })
  for (let at = 0; at < 10; at++) {
    await expect(attempt('wrong')).rejects.toMatchObject({ code: 'setup_code_wrong' })
  }
  await expect(attempt(input.code)).rejects.toMatchObject({ code: 'rate_limited' })
  await app.call(host, createFirstOperator, input, { address: '198.51.100.8' })
})

test('keeps or removes the demonstration', async () => {
  await createEmptyDemo(app.deps)
  const { demo } = await app.call(host, getSetup, {})
  expect(demo).toMatchObject({ address: 'http://demo.localhost' })

  const keeping = await prepare()
  const kept = await app.call(host, createFirstOperator, { ...keeping.input, demo: 'keep' })
  expect(kept.demo).toBe('kept')
  expect(await findDemo(app.deps)).toBeDefined()

  await app.owner.query(`update "user" set permissions = '{}'`)
  const removing = await prepare()
  const removed = await app.call(host, createFirstOperator, { ...removing.input, demo: 'remove' })
  expect(removed.demo).toBe('removed')
  expect(await findDemo(app.deps)).toBeUndefined()
})

test('keeps what an operator is to the database’s own rules', async () => {
  const company = app.companies[host]
  if (!company) throw new Error('no company')
  const { input } = await prepare()
  await app.call(host, createFirstOperator, input)
  const found = await inCompany(app.deps.db, company, tx =>
    tx.selectFrom('user').select('permissions').where('company_id', '=', company).execute()
  )
  expect(found.filter(each => each.permissions.includes('operator'))).toHaveLength(1)
})

/** Creates a setup code. Returns the input with which a browser creates the first operator. */
async function prepare(at = host) {
  const made = await createSetupCode(app.deps)
  if (!made) throw new Error('no code is given any more')
  expect(made.link).toBe(`http://${host}/en/setup#${made.code}`)
  return prepareWith(made.code, at)
}

async function inputWith(code: string) {
  return (await prepareWith(code)).input
}

async function prepareWith(code: string, at = host) {
  const keys = makeKeys()
  const email = `operator-${randomUUID()}@example.com`
  const { challenge: nonce } = await app.call(at, getChallenge, { email, purpose: 'signup' })
  const public_key_jwt = keys.publicKeyJwt({ aud: at, email, purpose: 'signup', nonce })
  const names = { username: 'Ada', company: 'Orchard' }
  return { email, keys, input: { code, email, ...names, public_key_jwt, demo: 'keep' as const } }
}

async function codes(): Promise<number> {
  const { rows } = await app.owner.query('select count(*)::int as count from setup_code')
  return rows[0].count
}
