import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deleteOwnAccount } from '../../../src/contract/accounts.ts'
import {
  createApiKey,
  createCompanyApiKey,
  deleteApiKey,
  deleteCompanyApiKey,
  listApiKeys,
  listCompanyApiKeys,
  renewApiKey
} from '../../../src/contract/api-keys.ts'
import { listAuditEntries } from '../../../src/contract/audit.ts'
import {
  deleteGroup,
  getGroup,
  removeGroupUser,
  updateGroup
} from '../../../src/contract/groups.ts'
import { KeyScope } from '../../../src/contract/kit/endpoint.ts'
import type { ErrorCode } from '../../../src/contract/kit/errors.ts'
import { disableUser, enableUser, listUsers } from '../../../src/contract/members.ts'
import { listRequests } from '../../../src/contract/requests.ts'
import { getChallenge, logOut } from '../../../src/contract/sessions.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { toCompanyId } from '../../../src/server/db/scope.ts'
import { checkAuditLog } from '../../../src/server/domain/audit/audit-check.ts'
import { hashApiKey } from '../../../src/server/domain/sessions/api-key-secrets.ts'
import { makeApp, type RawResponse, type TestApp, type TestPerson } from '../../helpers/app.ts'
import {
  confirmSessions,
  makeApiKey,
  makeDataSource,
  makeGroup,
  requestOf
} from '../../helpers/cases.ts'
import {
  errorCodeOf,
  isUploadRoute,
  makeAdmins,
  makeThings,
  routeCaseOf,
  routeOf,
  routes
} from '../../helpers/matrix.ts'
import { errorWithCode } from '../../helpers/refusals.ts'

let app: TestApp
let ada: TestPerson
let company: string
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  company = app.companies[ada.host] ?? ''
  await makeAdmins(app.owner)
})
afterAll(() => app[Symbol.asyncDispose]())

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

function put(key: string, bytes: Uint8Array, name = 'a.pdf', more: Record<string, string> = {}) {
  return app.request(`api.${ada.host}`, {
    method: 'PUT',
    path: `/deposit?name=${name}`,
    headers: { ...bearer(key), ...more },
    body: bytes
  })
}

function bodyOf({ body }: RawResponse) {
  return JSON.parse(body.toString())
}

async function deleteAccount({ email, keys, call }: TestPerson) {
  const { challenge } = await call(getChallenge, { email, purpose: 'rekey' })
  await call(deleteOwnAccount, { challenge_response: keys.respond(challenge) })
}

async function newKey(more: object = {}) {
  await confirmSessions(app)
  return ada.call(createApiKey, { name: 'Scanner', scopes: ['deposit', 'history'], ...more })
}

async function newCompanyKey(more: { group_id?: string; scopes?: KeyScope[] } = {}) {
  await confirmSessions(app)
  const group_id = more.group_id ?? (await makeGroup(app, ada.host))
  const scopes = more.scopes ?? ['deposit', 'history']
  return ada.call(createCompanyApiKey, { id: company, name: 'Archive', scopes, group_id })
}

describe('a key', () => {
  test('is shown once, and only its hash is stored', async () => {
    const { key, ...rest } = await newKey({ name: 'Nightly scan', expires_in_days: 2 })
    expect(key).toMatch(/^vdm_[\w-]{48}$/)
    expect(rest).toMatchObject({
      name: 'Nightly scan',
      hint: key.slice(0, 10),
      scopes: ['deposit', 'history'],
      group: null,
      created_by: expect.any(String),
      last_used: null
    })
    expect(Date.parse(rest.expires) - Date.parse(rest.created)).toBe(2 * 86_400_000)
    const [listed] = await ada.call(listApiKeys, {})
    expect(listed).toEqual(rest)
    const { rows } = await app.owner.query('select * from api_key where id = $1', [rest.id])
    expect(rows[0].hash).toEqual(hashApiKey(key))
    expect(JSON.stringify(rows)).not.toContain(key)
    expect(JSON.stringify(app.logged)).not.toContain(key)
  })

  test.for(['created', 'renewed'])('is not %s by a session that ended meanwhile', async what => {
    const person = await app.signUp()
    await confirmSessions(app)
    const { id } = await person.call(createApiKey, { name: 'Scanner', scopes: ['deposit'] })
    const client = await app.owner.connect()
    try {
      await client.query('begin')
      await client.query('select from "user" where id = $1 for update', [person.id])
      const answer =
        what === 'created'
          ? person.call(createApiKey, { name: 'Late', scopes: ['deposit'] })
          : person.call(renewApiKey, { id, expires_in_days: 30 })
      const code = answer.then(
        () => 'done',
        error => error.code
      )
      await sleep(300)
      await client.query('update session set revoked_at = now() where user_id = $1', [person.id])
      await client.query('commit')
      expect(await code).toBe('unauthenticated')
    } finally {
      client.release()
    }
    const { rows } = await app.owner.query('select name from api_key where user_id = $1', [
      person.id
    ])
    expect(rows).toEqual([{ name: 'Scanner' }])
  })

  test('lasts a year if nothing else is said', async () => {
    const { created, expires } = await newKey()
    expect(Date.parse(expires) - Date.parse(created)).toBe(365 * 86_400_000)
  })

  test('deposits a file in one call, and its owner sees it in the history', async () => {
    const { key, id } = await newKey()
    const answer = await put(key, randomBytes(300), 'one.pdf')
    expect(answer.status).toBe(201)
    const { id: request } = bodyOf(answer)
    const [newest] = await ada.call(listRequests, { limit: 1 })
    expect(newest).toMatchObject({ id: request, name: 'one.pdf', state: 'done' })
    const used = (await ada.call(listApiKeys, {})).find(each => each.id === id)
    expect(Date.parse(used?.last_used ?? '')).toBeGreaterThan(Date.now() - 60_000)
  })

  test('notes its last use every five minutes at most', async () => {
    const { key, id } = await newKey()
    const lastUsed = async () =>
      (await ada.call(listApiKeys, {})).find(each => each.id === id)?.last_used
    await app.call(ada.host, listRequests, {}, { token: key })
    const first = await lastUsed()
    app.wait(240)
    await app.call(ada.host, listRequests, {}, { token: key })
    expect(await lastUsed()).toBe(first)
    app.wait(120)
    await app.call(ada.host, listRequests, {}, { token: key })
    expect(await lastUsed()).not.toBe(first)
  })

  test('has idempotency keys of its own', async () => {
    const [one, other] = [await newKey(), await newKey()]
    const same = { 'idempotency-key': randomUUID() }
    const bytes = randomBytes(200)
    expect((await put(one.key, bytes, 'same.pdf', same)).headers).not.toHaveProperty(
      'idempotent-replayed'
    )
    expect((await put(one.key, bytes, 'same.pdf', same)).headers['idempotent-replayed']).toBe(
      'true'
    )
    expect((await put(other.key, bytes, 'same.pdf', same)).headers).not.toHaveProperty(
      'idempotent-replayed'
    )
  })

  test('can do no more than its owner at the time of the call', async () => {
    const owner = await app.signUp()
    const { key } = await makeApiKey(app, owner)
    expect((await put(key, randomBytes(50))).status).toBe(201)
    const { rows } = await app.owner.query(
      'select group_id as id from group_user where user_id = $1',
      [owner.id]
    )
    for (const { id } of rows) await ada.call(removeGroupUser, { groupId: id, userId: owner.id })
    const refused = await put(key, randomBytes(50))
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(errorCodeOf(refused)).not.toBe('internal')
  })

  test('of an administrator sees nothing that only administrators see', async () => {
    const { key } = await newKey({ scopes: [...KeyScope.options] })
    await expect(
      app.call(ada.host, listRequests, { scope: 'company' }, { token: key })
    ).rejects.toEqual(errorWithCode('forbidden'))
  })
})

describe('a key ends', () => {
  const works = (key: string, host = ada.host) =>
    app.call(host, listRequests, {}, { token: key }).then(
      () => 'works',
      error => error.code
    )

  test('when it expires', async () => {
    const { key, id } = await newKey({ expires_in_days: 1 })
    expect(await works(key)).toBe('works')
    await app.owner.query(
      `update api_key set created_at = created_at - interval '1 day',
         expires_at = expires_at - interval '1 day' where id = $1`,
      [id]
    )
    expect(await works(key)).toBe('unauthenticated')
  })

  test('when it is revoked, but not when its owner signs out everywhere', async () => {
    const owner = await app.signUp()
    const { key: kept } = await makeApiKey(app, owner)
    await owner.call(logOut, { all: true })
    expect(await works(kept)).toBe('works')
    const { key, id } = await newKey()
    await ada.call(deleteApiKey, { id })
    expect(await works(key)).toBe('unauthenticated')
    await expect(ada.call(deleteApiKey, { id })).rejects.toEqual(errorWithCode('not_found'))
  })

  test('while its owner is disabled', async () => {
    const owner = await app.signUp()
    const { key } = await makeApiKey(app, owner)
    await ada.call(disableUser, { id: owner.id, reason: 'left' })
    expect(await works(key)).toBe('account_disabled')
    await ada.call(enableUser, { id: owner.id })
    expect(await works(key)).toBe('works')
  })

  test('with the account of its owner', async () => {
    const owner = await app.signUp()
    const { key } = await makeApiKey(app, owner)
    await deleteAccount(owner)
    expect(await works(key)).toBe('unauthenticated')
    const { rows } = await app.owner.query('select from api_key where user_id = $1', [owner.id])
    expect(rows).toEqual([])
    expect((await checkAuditLog(app.deps, toCompanyId(company))).broken).toBeUndefined()
  })

  test('at the host of another company, where it is as unknown as one that never was', async () => {
    const { key } = await newKey()
    const at = (token: string) =>
      app.request('api.beta.localhost', requestOf(listRequests, {}, bearer(token)))
    const { key: never } = await newKey()
    await app.owner.query('delete from api_key where name = $1', ['no such name'])
    const [foreign, unknown] = [await at(key), await at(`${never.slice(0, -1)}x`)]
    expect([foreign.status, unknown.status]).toEqual([401, 401])
    expect(errorCodeOf(foreign)).toBe('unauthenticated')
    expect(bodyOf(foreign).detail).toBe(bodyOf(unknown).detail)
  })

  test('for calls that come while it is being revoked: none is let in a second later', async () => {
    const { key, id } = await newKey()
    const outcomes: { at: number; code: string }[] = []
    let isOver = false
    const callers = Array.from({ length: 10 }, async () => {
      while (!isOver) {
        const at = performance.now()
        outcomes.push({ at, code: await works(key) })
      }
    })
    await ada.call(deleteApiKey, { id })
    const revoked = performance.now()
    await new Promise(resolve => setTimeout(resolve, 1200))
    isOver = true
    await Promise.all(callers)
    const after = outcomes.filter(({ at }) => at > revoked)
    expect(after.length).toBeGreaterThan(0)
    expect(new Set(after.map(({ code }) => code))).not.toContain('works')
  })
})

test('too many wrong keys of an address are refused as such, and a good one still works', async () => {
  const { key } = await newKey()
  const wrong = async () => {
    const token = `vdm_${randomBytes(36).toString('base64url')}`
    return errorCodeOf(
      await app.request(`api.${ada.host}`, requestOf(listRequests, {}, bearer(token)))
    )
  }
  const codes = []
  for (let tried = 0; tried < 70; tried++) codes.push(await wrong())
  expect(new Set(codes)).toEqual(new Set(['unauthenticated', 'rate_limited']))
  expect(codes.at(-1)).toBe('rate_limited')
  await app.call(ada.host, listRequests, {}, { token: key })
})

describe('a key of the company', () => {
  test('deposits in its own name, on its group’s account, and outlives who made it', async () => {
    const maker = await app.signUp()
    await makeAdmins(app.owner)
    await confirmSessions(app)
    const group_id = await makeGroup(app, ada.host)
    const { id, key, group } = await maker.call(createCompanyApiKey, {
      id: company,
      name: 'Archive',
      scopes: ['deposit', 'history', 'verify'],
      group_id
    })
    expect(group?.id).toBe(group_id)
    await deleteAccount(maker)
    const bytes = randomBytes(500)
    const answer = await put(key, bytes, 'archive.pdf')
    expect(answer.status).toBe(201)
    const { id: request, sha256 } = bodyOf(answer)
    // its own history, the administrators' list of the company, and nobody else's
    const own = await app.call(ada.host, listRequests, {}, { token: key })
    expect(own.map(each => each.id)).toEqual([request])
    const all = await ada.call(listRequests, { scope: 'company', limit: 5 })
    expect(all.find(each => each.id === request)).toMatchObject({ user_id: id })
    const adas = await ada.call(listRequests, { limit: 5 })
    expect(adas.map(each => each.id)).not.toContain(request)
    const checked = await app.call(ada.host, verify, { items: [{ sha256 }] }, { token: key })
    expect(checked.items[0]?.verdict).toBe('authentic')
    expect(await ada.call(getGroup, { id: group_id })).toMatchObject({
      user_count: 0,
      usage: { requests_used: 2, storage_used: 500 }
    })
    await ada.call(updateGroup, { id: group_id, max_requests: 2 })
    expect(errorCodeOf(await put(key, randomBytes(500)))).toBe('request_limit_reached')
    const listed = (await ada.call(listCompanyApiKeys, { id: company })).find(
      each => each.id === id
    )
    expect(listed?.created_by).toBeNull()
  })

  test('is no person: no list has it, and it cannot be changed as one', async () => {
    const { id } = await newCompanyKey()
    const people = await ada.call(listUsers, { id: company, limit: 200 })
    expect(people.map(each => each.id)).not.toContain(id)
    await expect(ada.call(disableUser, { id, reason: 'left' })).rejects.toEqual(
      errorWithCode('not_found')
    )
  })

  test('keeps its group from being deleted until it is revoked', async () => {
    const group_id = await makeGroup(app, ada.host)
    const { id } = await newCompanyKey({ group_id })
    await expect(ada.call(deleteGroup, { id: group_id })).rejects.toMatchObject({
      code: 'in_use',
      uses: { users: 0, keys: 1 }
    })
    await ada.call(deleteCompanyApiKey, { id: company, keyId: id })
    await ada.call(deleteGroup, { id: group_id })
  })

  test('is audited when it is made and revoked, without the key', async () => {
    const { id, key, name } = await newCompanyKey()
    await ada.call(deleteCompanyApiKey, { id: company, keyId: id })
    const entries = await ada.call(listAuditEntries, { id: company, target: id })
    expect(entries.map(({ action, target }) => [action, target.name])).toEqual([
      ['api_key.revoke', name],
      ['api_key.create', name]
    ])
    expect(JSON.stringify(entries)).not.toContain(key.slice(4))
  })
})

describe('every call with a key of each scope', () => {
  let things: Awaited<ReturnType<typeof makeThings>>
  const keys: {
    of: 'an administrator' | 'a person' | 'the company'
    scope: KeyScope
    key: string
  }[] = []
  beforeAll(async () => {
    things = await makeThings(app, ada, 'scopes.pdf')
    for (const scope of KeyScope.options) {
      const { key } = await makeApiKey(app, ada, { scopes: [scope] })
      keys.push({ of: 'an administrator', scope, key })
    }
    const scope = 'registers'
    const companys = await makeApiKey(app, ada, { scopes: [scope], isCompanys: true })
    keys.push({ of: 'the company', scope, key: companys.key })
    const bob = await app.signUp()
    await app.owner.query(`update "user" set permissions = '{}' where id = $1`, [bob.id])
    keys.push({ of: 'a person', scope, key: (await makeApiKey(app, bob, { scopes: [scope] })).key })
  })

  test.each(Object.keys(routes))('%s', async name => {
    const route = routeOf(name)
    const row = routeCaseOf(name)
    const input: Record<string, unknown> = { ...(await row.input?.(app, ada)) }
    for (const { of, scope, key } of keys) {
      for (const [field, thing] of Object.entries(row.ids ?? {})) input[field] = things[thing]
      const headers = { ...row.headers?.(app, ada), ...bearer(key) }
      const answer = await app.request(
        `api.${ada.host}`,
        requestOf(route, input, headers, row.body)
      )
      const wanted = refusalOf(route, of, scope)
      const code = route.method === 'HEAD' ? undefined : errorCodeOf(answer)
      const what = `${name} with ${scope} of ${of}`
      if (wanted === undefined) {
        expect.soft([401, 403], what).not.toContain(answer.status)
      } else {
        expect.soft(answer.status, what).toBe(403)
        if (route.method !== 'HEAD') expect.soft(code, what).toBe(wanted)
      }
    }
    const isForKeys = route.access !== 'admin' || route.scopes?.includes('registers')
    if (route.scopes) expect(isUploadRoute(route) || isForKeys).toBe(true)
  })

  function refusalOf(
    { access, path, scopes }: ReturnType<typeof routeOf>,
    of: (typeof keys)[number]['of'],
    scope: KeyScope
  ): ErrorCode | undefined {
    if (!scopes) return 'person_required'
    if (!scopes.includes(scope)) return 'scope_missing'
    if (of === 'a person' && access === 'admin') return 'forbidden'
    // the upload is that of a deposit; nobody else’s is found
    const isOwnUpload = of === 'an administrator' && path.startsWith('/uploads/')
    return isOwnUpload && scope === 'registers' ? 'scope_missing' : undefined
  }
})

describe('the scope registers', () => {
  const read = async (key: string) => {
    const id = await makeDataSource(app.owner, company)
    const { status } = await app.request(
      `api.${ada.host}`,
      requestOf(routeOf('getDataSource'), { id }, bearer(key))
    )
    return status
  }

  test('lets a key of the company read data sources, and none of another company', async () => {
    const { key } = await newCompanyKey({ scopes: ['registers'] })
    expect(await read(key)).toBe(200)
    const list = async (id: string, headers = {}) =>
      errorCodeOf(
        await app.request(
          `api.${ada.host}`,
          requestOf(routeOf('listDataSources'), { id }, { ...bearer(key), ...headers })
        )
      )
    expect(await list(company)).toBeUndefined()
    const other = app.companies['beta.localhost'] ?? ''
    expect(await list(other)).toBe('not_found')
    expect(await list(company, { company: other })).toBe('forbidden')
  })

  test('works in the key of a person only while they are an administrator', async () => {
    const person = await app.signUp()
    const { key } = await makeApiKey(app, person, { scopes: ['registers'] })
    const permit = (permissions: string) =>
      app.owner.query('update "user" set permissions = $2 where id = $1', [person.id, permissions])
    await permit('{admin}')
    expect(await read(key)).toBe(200)
    await permit('{}')
    expect(await read(key)).toBe(403)
  })

  test('is given by administrators alone', async () => {
    const person = await app.signUp()
    await app.owner.query(`update "user" set permissions = '{}' where id = $1`, [person.id])
    await confirmSessions(app)
    const made = person.call(createApiKey, { name: 'Nightly', scopes: ['registers'] })
    await expect(made).rejects.toMatchObject({ code: 'forbidden' })
    expect((await newKey({ scopes: ['registers'] })).scopes).toEqual(['registers'])
  })
})
