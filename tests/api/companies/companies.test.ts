import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { activateUser } from '../../../src/contract/accounts.ts'
import {
  createCompany,
  getCompany,
  listCompanies,
  resumeCompany,
  suspendCompany,
  updateCompany
} from '../../../src/contract/companies.ts'
import { getDomainConfig } from '../../../src/contract/domains.ts'
import type { Endpoint } from '../../../src/contract/kit/endpoint.ts'
import { changeUsers, deleteMember, listUsers } from '../../../src/contract/members.ts'
import { getChallenge } from '../../../src/contract/sessions.ts'
import { createUser, getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { mailTokenHash } from '../../../src/core/keys/public-key-proof.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, requestOf } from '../../helpers/cases.ts'
import { openStream } from '../../helpers/event-stream.ts'
import { makeKeys } from '../../helpers/keys.ts'

let app: TestApp
/** An operator whose own company is acme. */
let olga: TestPerson
let acme: string
beforeAll(async () => {
  app = await makeApp()
  olga = await app.signUp()
  acme = olga.company
  await grant(olga, 'operator')
})
afterAll(() => app[Symbol.asyncDispose]())

async function grant({ id }: TestPerson, permission: string): Promise<void> {
  await app.owner.query('update "user" set permissions = $2 where id = $1', [id, [permission]])
}

/** Creates a company with a host of its own and one person, `bea`. */
async function newCompany(name = `Company ${randomUUID()}`) {
  const host = `${randomUUID().slice(0, 8)}.localhost`
  const id = await app.addCompany(name, host)
  app.companies[host] = id
  return { id, name, host, bea: await app.signUp(host) }
}

test('lists all companies with their hosts, searched, sorted, filtered and in pages', async () => {
  const names = ['Zoë & Söhne', 'zoe two', 'Zoo'].map(name => `${name} ${randomUUID()}`)
  const made = await Promise.all(names.map(name => newCompany(name)))
  await confirmSessions(app)
  await olga.call(suspendCompany, { id: made[1]?.id ?? '', reason: 'payment' })
  const found = await olga.call(listCompanies, { q: 'ZOE' })
  expect(found.map(({ name }) => name)).toEqual([names[0], names[1]])
  expect(found[0]).toEqual({
    id: made[0]?.id,
    version: 1,
    name: names[0],
    created: expect.any(String),
    domains: [{ id: expect.any(String), host: made[0]?.host, verified: true }],
    domain_count: 1,
    suspended: null,
    demo: false,
    usage: { people: 1, documents: 0, storage: 0, requests: 0 }
  })
  expect(found[1]?.suspended).toEqual({
    reason: 'payment',
    since: expect.any(String),
    verification: 'open'
  })
  const active = await olga.call(listCompanies, { q: 'zoe', state: 'active' })
  expect(active.map(({ id }) => id)).toEqual([made[0]?.id])
  const suspended = await olga.call(listCompanies, { q: 'zoe', state: 'suspended' })
  expect(suspended.map(({ id }) => id)).toEqual([made[1]?.id])

  const all = await olga.call(listCompanies, { sort: '-created' })
  const paged: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await olga.call(listCompanies, {
      sort: '-created',
      limit: 2,
      ...(cursor ? { cursor } : {})
    })
    paged.push(...page.map(({ id }) => id))
    cursor = page.at(-1)?.id
    if (page.length < 2) break
  }
  expect(paged).toEqual(all.map(({ id }) => id))
})

test('are listed with what they use, and the requests of this month alone', async () => {
  const { id, name, bea } = await newCompany()
  const usage = async () => (await olga.call(listCompanies, { q: name }))[0]?.usage
  await app.deposit(bea, Buffer.from('twelve bytes'))
  await bea.call(verify, { items: [{ sha256: '1'.repeat(64) }, { sha256: '2'.repeat(64) }] })
  await app.owner.query(
    `insert into usage_day (company_id, group_id, day, deposits, verifications)
     select company_id, group_id, date_trunc('month', day) - interval '1 day', 5, 7
       from usage_day where company_id = $1`,
    [id]
  )
  expect(await usage()).toEqual({ people: 1, documents: 6, storage: 12, requests: 3 })
})

test('are renamed by their administrators, with the names of their domains that say the same', async () => {
  const { id, host, name, bea } = await newCompany()
  await expect(bea.call(updateCompany, { id, name: 'Mine' })).rejects.toMatchObject({
    code: 'forbidden'
  })
  await grant(bea, 'admin')
  const renamed = await bea.call(updateCompany, { id, name: 'Bêta SA' }, { version: 1 })
  expect(renamed).toMatchObject({ id, name: 'Bêta SA', version: 2 })
  const late = bea.call(updateCompany, { id, name }, { version: 1 })
  await expect(late).rejects.toMatchObject({ code: 'changed_meanwhile' })
  expect(await olga.call(getCompany, { id })).toMatchObject(renamed)
  const config = await app.call(host, getDomainConfig, { domain: host })
  expect(config).toMatchObject({
    company: 'Bêta SA',
    name: 'Bêta SA',
    title: 'Bêta SA',
    version: 2
  })
  await expect(bea.call(updateCompany, { id: acme, name: 'Theirs' })).rejects.toMatchObject({
    code: 'not_found'
  })
  expect(await auditOf(id)).toEqual([
    expect.objectContaining({ action: 'company.update', actor_id: bea.id, acted_in: id })
  ])
})

// B-08
test('that are suspended are refused every call but keep their pages, until they are resumed', async () => {
  const { id, host, bea } = await newCompany()
  const port = await app.listen()
  const stream = await openStream(port, bea)
  await stream.next()
  const bytes = Buffer.from('half of this arrives')
  const { upload, request } = await app.reserve(bea, bytes)
  expect((await app.patch(bea, upload, bytes.subarray(0, 4))).status).toBe(204)

  await confirmSessions(app)
  const suspended = await olga.call(suspendCompany, { id, reason: 'abuse' })
  expect(suspended.suspended?.reason).toBe('abuse')
  expect(await stream.ended()).toBeLessThan(5000)
  expect(stream.events.at(-1)?.event).toBe('disabled')
  const told = (reason: string) => ({
    code: 'account_disabled',
    disabled: { scope: 'company', reason }
  })
  // only its administrators are told why
  await expect(bea.call(getOwnAccount, {})).rejects.toMatchObject(told('other'))
  await expect(app.signIn(bea)).rejects.toMatchObject(told('other'))
  await grant(bea, 'admin')
  await expect(bea.call(getOwnAccount, {})).rejects.toMatchObject(told('abuse'))
  await expect(app.signIn(bea)).rejects.toMatchObject(told('abuse'))
  await expect(app.signIn({ ...bea, keys: makeKeys() })).rejects.toMatchObject({
    code: 'login_failed'
  })
  await expect(app.signUp(host)).rejects.toMatchObject(told('other'))
  expect((await app.patch(bea, upload, bytes.subarray(4), 4)).status).toBe(403)
  // strangers can verify, unless the operator turns that off
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const asked = () => app.call(host, verify, { items: [{ sha256 }] })
  expect((await asked()).items).toHaveLength(1)
  const paused = async () => (await app.call(host, getDomainConfig, { domain: host })).paused
  expect(await paused()).toEqual({ verification: 'open' })
  await olga.call(suspendCompany, { id, reason: 'abuse', verification: 'closed' })
  await expect(asked()).rejects.toMatchObject(told('other'))
  expect(await paused()).toEqual({ verification: 'closed' })
  // others go on
  expect((await olga.call(getOwnAccount, {})).id).toBe(olga.id)

  const again = await olga.call(suspendCompany, { id, reason: 'payment' })
  expect(again.suspended).toEqual({
    reason: 'payment',
    since: suspended.suspended?.since,
    verification: 'open'
  })
  expect((await olga.call(resumeCompany, { id })).suspended).toBeNull()
  expect((await bea.call(getOwnAccount, {})).id).toBe(bea.id)
  expect((await app.patch(bea, upload, bytes.subarray(4), 4)).status).toBe(204)
  expect((await app.until(bea, request.id, ['done', 'failed'])).state).toBe('done')
})

test('are suspended and resumed by operators alone, and never their own', async () => {
  const { id, bea } = await newCompany()
  await grant(bea, 'admin')
  await confirmSessions(app)
  for (const call of [
    () => bea.call(suspendCompany, { id, reason: 'abuse' }),
    () => bea.call(resumeCompany, { id }),
    () => bea.call(listCompanies, {})
  ]) {
    await expect(call()).rejects.toMatchObject({ code: 'forbidden' })
  }
  const own = olga.call(suspendCompany, { id: acme, reason: 'abuse' })
  await expect(own).rejects.toMatchObject({ code: 'own_company' })
  await expect(olga.call(resumeCompany, { id: randomUUID() })).rejects.toMatchObject({
    code: 'not_found'
  })
  expect(await auditOf(id)).toEqual([])
})

test('have each suspension in both audit logs, also if operators race', async () => {
  const { id } = await newCompany()
  const other = await app.signUp()
  await grant(other, 'operator')
  await confirmSessions(app)
  const own = (await auditOf(acme)).length
  await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      at % 2
        ? olga.call(suspendCompany, { id, reason: at % 4 === 1 ? 'abuse' : 'payment' })
        : other.call(resumeCompany, { id })
    )
  )
  const entries = await auditOf(id)
  const { version, suspended } = await olga.call(getCompany, { id })
  expect(version).toBe(11)
  const last = entries.at(-1)?.action
  expect(last).toBe(suspended ? 'company.suspend' : 'company.resume')
  expect((await auditOf(acme)).length - own).toBe(entries.length)
})

test('whose people deposit while they are suspended lose and charge nothing twice', async () => {
  const { id, bea } = await newCompany()
  const depositing = Array.from({ length: 8 }, (_, at) =>
    app.deposit(bea, Buffer.from(`document ${at}`)).catch((error: unknown) => error)
  )
  await confirmSessions(app)
  await olga.call(suspendCompany, { id, reason: 'security' })
  await Promise.all(depositing)
  await olga.call(resumeCompany, { id })
  const { rows } = await app.owner.query(
    `select (select count(*)::int from deposit where company_id = $1) as deposits,
            (select coalesce(sum(used), 0)::int from usage where company_id = $1 and kind = 'requests') as used`,
    [id]
  )
  expect(rows[0].used).toBe(rows[0].deposits)
})

test('are created with a host, keys, a group and an administrator who is invited', async () => {
  const host = `${randomUUID().slice(0, 8)}.localhost`
  const email = `first-${randomUUID()}@example.com`
  const input = { name: 'Nouvelle', host, email, locale: 'fr' as const }
  const key = randomUUID()
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => open(input, key).catch((error: { code: string }) => error.code))
  )
  const made = answers.filter(answer => typeof answer === 'object')
  expect(answers.filter(answer => answer === 'idempotency_in_flight')).toHaveLength(
    answers.length - made.length
  )
  const opened = await open(input, key)
  expect(opened).toMatchObject({ name: 'Nouvelle', domains: [{ host, verified: true }] })
  expect(opened.invitation).toBeUndefined()
  const link = new URL(made.find(({ invitation }) => invitation)?.invitation?.link ?? '')
  expect(link.hostname).toBe(host)
  expect(link.pathname).toBe('/fr/activate-account')

  // the first administrator gets in and administers, in this company alone
  const token = new URLSearchParams(link.hash.slice(1)).get('t') ?? ''
  const keys = makeKeys()
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  const th = mailTokenHash(token)
  const public_key_jwt = keys.publicKeyJwt({ aud: host, email, purpose: 'activate', nonce, th })
  await app.call(host, activateUser, { token, username: 'Zoé', public_key_jwt })
  const zoe = { token: await app.signIn({ host, email, keys }) }
  const user = await app.call(host, getOwnAccount, {}, zoe)
  expect(user).toMatchObject({ permissions: ['admin'], features: ['deposit'], locale: 'fr' })
  expect(
    await app.call(host, updateCompany, { id: opened.id, name: 'Zoé SARL' }, zoe)
  ).toMatchObject({ name: 'Zoé SARL' })
  expect((await auditOf(opened.id)).map(({ action }) => action)).toEqual([
    'company.create',
    'user.invite',
    'user.permissions',
    'user.activate',
    'company.update'
  ])
  await expect(open({ ...input, name: 'Other' })).rejects.toMatchObject({ code: 'host_taken' })
})

test('wait for the proof of their first domain, unless the operator has proved the name above', async () => {
  const label = randomUUID().slice(0, 8)
  const email = 'first@example.com'
  const waiting = await open({ name: 'Waiting', host: `${label}.example.com`, email })
  expect(waiting.domains).toMatchObject([{ verified: false }])
  expect(waiting.invitation).toBeUndefined()
  await app.owner.query(
    `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
     select company_id, gen_random_uuid(), $1, name, title, false, locale, theme, now()
       from domain where host = 'acme.localhost'`,
    [`*.${label}.fr`]
  )
  const covered = await open({ name: 'Covered', host: `docs.${label}.fr`, email })
  expect(covered.domains).toMatchObject([{ verified: true }])
  expect(covered.invitation?.link).toContain(`//docs.${label}.fr`)
  const { rows } = await app.owner.query('select origin from log_head where company_id = $1', [
    covered.id
  ])
  expect(rows).toEqual([{ origin: `docs.${label}.fr/log` }])
})

test('without a host let operators correct who is invited, and name what links need', async () => {
  const host = `${randomUUID().slice(0, 8)}.example.com`
  const { id } = await open({ name: 'Mistyped', host, email: 'misstyped@example.com' })
  const ask = async (route: Endpoint, input: Record<string, unknown>) => {
    const headers = { authorization: `Bearer ${olga.token}`, company: id }
    const { status, body } = await app.request(`api.${olga.host}`, requestOf(route, input, headers))
    return { status, ...(body.length > 0 && { body: JSON.parse(body.toString()) }) }
  }
  const first = await ask(listUsers, { id })
  expect(first.body).toMatchObject([{ email: 'misstyped@example.com', state: 'invited' }])
  const refusal = { status: 409, body: { code: 'host_needed' } }
  expect(await ask(createUser, { email: 'first@example.com' })).toMatchObject(refusal)
  const ids = [first.body[0].id]
  expect(await ask(changeUsers, { action: 'invite', ids })).toMatchObject(refusal)
  const disabled = await ask(changeUsers, { action: 'disable', reason: 'left', ids })
  expect(disabled).toMatchObject({ status: 200, body: { done: ids } })
  await confirmSessions(app)
  expect(await ask(deleteMember, { id: ids[0] })).toEqual({ status: 204 })
  expect((await ask(listUsers, { id })).body).toEqual([])
})

test('wait for the proof of a host that others wait for too, but never twice under one name', async () => {
  const host = `${randomUUID().slice(0, 8)}.example.com`
  const email = 'first@example.com'
  const made = await Promise.allSettled([
    open({ name: 'Twin', host, email }),
    open({ name: 'Twin', host, email }),
    open({ name: 'Another', host, email })
  ])
  const codes = made.map(each => (each.status === 'fulfilled' ? 'made' : each.reason.code))
  expect(codes.toSorted()).toEqual(['host_taken', 'made', 'made'])
  const { rows } = await app.owner.query(
    `select origin from log_head join domain using (company_id) where host = $1 order by 1`,
    [host]
  )
  // only a company that has proved the host has the short name of it
  const named = expect.stringMatching(new RegExp(`^${host}/log/[0-9a-f-]{36}$`))
  expect(rows.map(({ origin }) => origin)).toEqual([named, named])
  await app.owner.query(
    'update domain set verified_at = now() where host = $1 and id = (select id from domain where host = $1 limit 1)',
    [host]
  )
  await expect(open({ name: 'Third', host, email })).rejects.toMatchObject({ code: 'host_taken' })
})

test('of one host are created once, however many operators ask at the same time', async () => {
  const host = `${randomUUID().slice(0, 8)}.localhost`
  const codes = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      open({ name: `Racer ${at}`, host, email: 'racer@example.com' }).then(
        () => 'created',
        (error: { code: string }) => error.code
      )
    )
  )
  expect(codes.toSorted()).toEqual(['created', ...Array(7).fill('host_taken')])
})

/** Calls `POST /company` as a browser on a developer's machine, which may use `*.localhost`. */
async function open(input: z.input<typeof createCompany.input>, key?: string) {
  await confirmSessions(app)
  const answer = await app.request(
    `api.${olga.host}`,
    requestOf(createCompany, input, {
      authorization: `Bearer ${olga.token}`,
      ...(key && { 'idempotency-key': key })
    })
  )
  const body = JSON.parse(answer.body.toString())
  if (answer.status !== 201) throw body
  return createCompany.output.parse(body)
}

async function auditOf(company: string) {
  const { rows } = await app.owner.query(
    'select action, actor_id, acted_in from audit_entry where company_id = $1 order by seq',
    [company]
  )
  return rows
}
