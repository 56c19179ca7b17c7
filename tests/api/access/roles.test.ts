import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AuditAction } from '../../../src/contract/audit.ts'
import {
  hasCompanyIdInPath,
  isCompanyAdministrationCall
} from '../../../src/contract/kit/endpoint.ts'
import type { ErrorCode } from '../../../src/contract/kit/errors.ts'
import { createUser } from '../../../src/contract/users.ts'
import en from '../../../src/i18n/en/admin/labels.json' with { type: 'json' }
import fr from '../../../src/i18n/fr/admin/labels.json' with { type: 'json' }
import { auditTranslator } from '../../../src/islands/audit/audit-translator.ts'
import { describeChanges } from '../../../src/islands/audit/audit-words.ts'
import { toCompanyId } from '../../../src/server/db/scope.ts'
import { makeApp, type RawResponse, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeInvitedPerson, makeWaitingSignUp, requestOf, type Thing } from '../../helpers/cases.ts'
import { makeSignUp } from '../../helpers/mailed.ts'
import {
  comparableText,
  digestRows,
  makeThings,
  makeThingToUseUp,
  type Outcome,
  outcomeOf,
  refusalOutcomeOf,
  routeCaseOf,
  routeOf,
  routes,
  successOutcomeOf,
  tablesOf,
  usedUpIdFieldOf
} from '../../helpers/matrix.ts'

// B-07

const names = Object.keys(routes)
const home = 'acme.localhost'

type Things = Record<Thing, string>
type World = Awaited<ReturnType<typeof makeWorld>>
let world: World
beforeAll(async () => {
  world = await makeWorld()
})
afterAll(() => world.app[Symbol.asyncDispose]())

describe('every role makes every call', () => {
  const roles = [
    'no token',
    'a pending session',
    'a plain user',
    'an admin',
    'an admin of another company',
    'an operator'
  ] as const
  type Role = (typeof roles)[number]

  test.each(names)('%s', async name => {
    const route = routeOf(name)
    for (const role of roles) {
      const { code, status } = outcomeOf(await ask(name, await callerOf(role)))
      expect.soft({ role, code, status }).toEqual({ role, ...expectedOf(role) })
    }

    function expectedOf(role: Role): Outcome {
      const isAdministration = route.access === 'admin' || route.access === 'operator'
      const isOpen = 'pending' in route && route.pending === true
      const done = successOutcomeOf(name)
      const refusal = (code: ErrorCode) => refusalOutcomeOf(code, route)
      switch (role) {
        case 'no token':
          return route.access === 'public' ? done : refusal('unauthenticated')
        case 'an admin of another company':
          return refusal('unauthenticated')
        case 'a pending session':
          return isOpen ? done : refusal('forbidden')
        case 'a plain user':
          return isAdministration ? refusal('forbidden') : done
        case 'an admin':
          return isOperators(name) ? refusal('forbidden') : done
        case 'an operator':
          return doneAtHome(name)
      }
    }
  })

  async function callerOf(role: Role): Promise<Caller> {
    const { people, things } = world
    switch (role) {
      case 'no token':
        return { person: people.plain, things: things.plain, token: undefined }
      case 'a pending session':
        return { person: people.pending, things: things.plain }
      case 'a plain user':
        return { person: people.plain, things: things.plain }
      case 'an admin':
        return { person: people.admin, things: things.admin }
      case 'an admin of another company':
        return { person: people.foreigner, things: things.beta }
      case 'an operator':
        return { person: people.operator, things: things.operator }
    }
  }
})

/** What the entries have that no single call makes. */
const fieldsOfOtherActions = {
  'company.suspend': {
    suspended: { reason: 'payment', since: '2026-05-03T12:00:00.000Z', verification: 'open' }
  },
  'company.resume': { suspended: null },
  'domain.verify': { host: 'docs.acme.example' },
  'domain.cover': { host: 'docs.acme.example', wildcard: '*.acme.example' },
  'domain.uncover': { host: 'docs.acme.example', wildcard: '*.acme.example' },
  'domain.miss_record': { host: 'docs.acme.example' },
  'domain.find_record': { host: 'docs.acme.example' },
  'domain.turn_off': { host: 'docs.acme.example' },
  'domain.primary': { host: 'docs.acme.example' },
  'domain.publish': { number: 2, colors: { dark: true, primary: '#ffe600' }, logo: 'sha256:aa' },
  'group.add_category': { category_id: randomUUID() },
  'import.run': { name: 'a.csv', new: 1, changed: 2, unchanged: 3, skipped: 4, digest: 'ab' },
  'import.undo': { name: 'a.csv', removed: 1, restored: 2, kept: 3 },
  'user.change_email': { email: 'ada@acme.example' }
}

// the calls above have made nearly every kind of entry
test('the audit log says every field of every entry in words, in both languages', async () => {
  const { rows } = await world.app.owner.query<{ action: string; changes: string }>(
    `select distinct action, value.changes from audit_entry join audit_value value using (company_id, seq)`
  )
  const actions = new Set<string>(rows.map(({ action }) => action))
  const bare = [
    'company.read_history',
    'user.invite_again',
    'user.invitation_link',
    'user.delete',
    'user.sign_out',
    'user.verify_link',
    'user.change_password',
    'user.reset_password'
  ]
  const others = AuditAction.options.filter(each => !actions.has(each) && !bare.includes(each))
  expect(others.sort()).toEqual(Object.keys(fieldsOfOtherActions).sort())
  for (const [action, after] of Object.entries(fieldsOfOtherActions))
    rows.push({ action, changes: JSON.stringify({ before: {}, after }) })
  const raw = new Set<string>()
  for (const { action, changes } of rows) {
    const { before, after } = JSON.parse(changes)
    const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    const entry = {
      ...{
        id: '',
        seq: 1,
        at: '',
        actor: { id: '', name: 'Mona' },
        action,
        names: [],
        erased: false
      },
      target: { id: '', kind: '', name: 'It' },
      changes: fields.map(field => ({
        field,
        before: before[field] ?? null,
        after: after[field] ?? null
      }))
    }
    const labels = { en, fr }
    for (const locale of ['en', 'fr'] as const) {
      const t = auditTranslator(locale)
      for (const { field, label, ...words } of describeChanges(entry, locale, t)) {
        if (Reflect.get(labels[locale], field) !== label) raw.add(`${action}: ${field} (${locale})`)
        for (const moment of ['before', 'after'] as const) {
          for (const code of codesIn({ before, after }[moment][field])) {
            const isInWords = ['reason', 'locale', 'colors', 'interval', field].some(
              list => t(`values.${list}.${code}` as 'nothing') !== `values.${list}.${code}`
            )
            const shown = words[moment]?.split(/[,:] ?/).includes(code)
            if (shown && !isInWords && !isFreeText(field))
              raw.add(`${action}: ${field}: ${code} (${locale})`)
          }
        }
      }
    }
  }
  expect([...raw].sort()).toEqual([])
})

function isFreeText(field: string): boolean {
  return ['name', 'names', 'username', 'title', 'host', 'digest'].includes(field)
}

/** Returns the words of a value that only a program reads: enum values and names of fields. */
function codesIn(value: unknown): string[] {
  if (typeof value === 'string') return /^[a-z]+(?:_[a-z]+)*$/.test(value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return [...names, ...Object.values(value).flatMap(codesIn)]
}

describe('the company of a call', () => {
  const acting = names.filter(name => isCompanyAdministrationCall(routeOf(name)))
  const byPath = acting.filter(name => hasCompanyIdInPath(routeOf(name)))
  const byHeader = acting.filter(
    name => !hasCompanyIdInPath(routeOf(name)) && !routeCaseOf(name).reachesOthers
  )

  const ofUploads = ['headUpload', 'patchUpload', 'deleteUpload']

  // one middleware resolves the company, so the other routes get one company of several
  const thorough = ['createUser', 'getCompany']
  const othersFor = (name: string): ('beta' | 'suspended')[] =>
    thorough.includes(name) ? ['beta', 'suspended'] : ['beta']

  test('is resolved for every call of administration', () => {
    expect(acting).toEqual(expect.arrayContaining(thorough))
    expect(byPath.length).toBeGreaterThan(2)
    expect(byHeader).toEqual(expect.arrayContaining(['createUser', 'disableUser', 'updateDomain']))
  })

  test.each(byHeader)('%s: an operator acts in the company of the header alone', async name => {
    const { people, things, companies } = world
    const { operator } = people
    for (const where of othersFor(name)) {
      const company = companies[where]
      // an earlier call's mail would disappear between the two counts
      await world.app.allMailsSent()
      const before = await rowsBut(company)
      const answer = await administer(name, { person: operator, things: things[where], company })
      expect.soft({ where, ...outcomeOf(answer) }).toEqual({ where, ...successOutcomeOf(name) })
      // the operator's own company keeps its entry of the act
      expect.soft(await rowsBut(company)).toEqual(before)
      if (!hasIds(name)) continue
      const own = await administer(name, { person: operator, things: things.operator, company })
      expect.soft(outcomeOf(own), 'own thing').toEqual(refusalOutcomeOf('not_found'))
      const other = await administer(name, { person: operator, things: things[where] })
      expect.soft(outcomeOf(other), 'without the header').toEqual(refusalOutcomeOf('not_found'))
    }
  })

  test.each(byPath)('%s: an operator acts in the company of the path', async name => {
    const { people, things, companies } = world
    const { operator } = people
    for (const where of othersFor(name)) {
      const there = { person: operator, things: things[where] }
      expect.soft(outcomeOf(await administer(name, there)), where).toEqual(successOutcomeOf(name))
      const both = await administer(name, { ...there, company: companies[where].toUpperCase() })
      expect.soft(outcomeOf(both), 'both the same').toEqual(successOutcomeOf(name))
      const two = await administer(name, { ...there, company: companies.acme })
      expect.soft(outcomeOf(two), 'two companies').toEqual(refusalOutcomeOf('invalid_input'))
    }
  })

  test.each(acting)('%s: nobody else acts in another company', async name => {
    const { people, things, companies } = world
    const seen = new Set<string>()
    const more = thorough.includes(name) ? [companies.suspended, randomUUID()] : []
    for (const company of [companies.beta, ...more]) {
      const there = { ...things.admin, company }
      const header = hasCompanyIdInPath(routeOf(name)) ? undefined : company
      const answer = await administer(name, {
        person: people.admin,
        things: there,
        company: header
      })
      expect
        .soft(outcomeOf(answer), company)
        .toEqual(refusalOutcomeOf(isOperators(name) ? 'forbidden' : 'not_found'))
      if (!isOperators(name)) seen.add(comparableText(answer))
      const plain = await administer(name, { person: people.plain, things: there, company })
      expect.soft(outcomeOf(plain), 'plain').toEqual(refusalOutcomeOf('forbidden'))
    }
    // an operator learns of a company that does not exist what an admin learns of one that does
    const missing = { person: people.operator, things: things.operator, company: randomUUID() }
    const nowhere = hasCompanyIdInPath(routeOf(name))
      ? { person: people.operator, things: { ...things.operator, company: randomUUID() } }
      : missing
    seen.add(comparableText(await administer(name, nowhere)))
    expect(seen.size).toBe(1)
  })

  test.each(acting)('%s: refuses what is no id, and takes the own company', async name => {
    const { people, things, companies } = world
    const { acme } = companies
    const more = thorough.includes(name) ? ['', `${acme}0`, `{${acme}}`, '*', 'null'] : []
    for (const role of ['admin', 'operator'] as const) {
      const caller = { person: people[role], things: things[role] }
      for (const company of ['x', ...more]) {
        const answer = await administer(name, { ...caller, company })
        if (role === 'admin' && isOperators(name)) {
          expect.soft(outcomeOf(answer), company).toEqual(refusalOutcomeOf('forbidden'))
          continue
        }
        expect.soft(outcomeOf(answer), company).toEqual(refusalOutcomeOf('invalid_input'))
        expect.soft(JSON.parse(answer.body.toString()).fields).toHaveProperty('company')
      }
      const own = await administer(name, { ...caller, company: companies.acme })
      const isRefused = role === 'admin' && isOperators(name)
      const expected = isRefused ? refusalOutcomeOf('forbidden') : doneAtHome(name)
      expect.soft(outcomeOf(own), role).toEqual(expected)
    }
    for (const company of ['x', companies.beta]) {
      const plain = await administer(name, { person: people.plain, things: things.plain, company })
      expect.soft(outcomeOf(plain), 'plain').toEqual(refusalOutcomeOf('forbidden'))
    }
  })

  test.each(ofUploads)('%s: finds the upload in the company of the header', async name => {
    const { people, things, companies } = world
    for (const [person, company, code] of [
      [people.operator, 'x', 'invalid_input'],
      [people.operator, companies.beta, 'not_found'],
      [people.admin, companies.beta, 'not_found'],
      [people.plain, companies.acme, 'forbidden']
    ] as const) {
      const answer = await ask(name, { person, things: things.operator, company })
      expect.soft(outcomeOf(answer)).toEqual(refusalOutcomeOf(code, routeOf(name)))
    }
  })

  test.each(names.filter(name => !acting.includes(name) && !ofUploads.includes(name)))(
    '%s: administers none and ignores the header',
    async name => {
      const { people, things, companies } = world
      const caller = { person: people.operator, things: things.operator }
      for (const company of ['x', companies.beta]) {
        expect
          .soft(outcomeOf(await ask(name, { ...caller, company })))
          .toEqual(successOutcomeOf(name))
      }
    }
  )

  test('is the own one again from the next call on once the permission is gone', async () => {
    const { app, things, companies } = world
    const operator = await signUpAs(app, 'operator')
    const caller = { person: operator, things: things.beta }
    expect(outcomeOf(await ask('getCompany', caller)).status).toBe(200)
    await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [operator.id])
    expect(outcomeOf(await ask('getCompany', caller))).toEqual(refusalOutcomeOf('not_found'))
    const own = { ...caller, things: { ...things.beta, company: companies.acme } }
    expect(JSON.parse((await ask('getCompany', own)).body.toString())).toMatchObject({
      id: companies.acme
    })
  })

  test('may be named by a page of the same host', async () => {
    const answer = await world.app.request(`api.${home}`, {
      method: 'OPTIONS',
      path: '/group',
      headers: {
        origin: `http://${home}`,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, company, content-type'
      }
    })
    expect(answer.headers['access-control-allow-headers']?.split(', ')).toContain('company')
  })

  test('is where an invitation leads', async () => {
    const { app, people, companies } = world
    const email = `person-${randomUUID()}@example.com`
    const answer = await app.request(
      `api.${home}`,
      requestOf(
        createUser,
        { email },
        {
          authorization: `Bearer ${people.operator.token}`,
          company: companies.beta
        }
      )
    )
    const { id, link } = JSON.parse(answer.body.toString())
    expect(new URL(link).hostname).toBe('beta.localhost')
    const { rows } = await app.owner.query('select company_id from "user" where id = $1', [id])
    expect(rows).toEqual([{ company_id: companies.beta }])
    const { rows: entries } = await app.owner.query(
      'select company_id, actor_company_id, acted_in from audit_entry where target_id = $1',
      [id]
    )
    const entry = { actor_company_id: companies.acme, acted_in: companies.beta }
    expect(entries).toHaveLength(2)
    expect(entries).toEqual(
      expect.arrayContaining([
        { ...entry, company_id: companies.beta },
        { ...entry, company_id: companies.acme }
      ])
    )
  })
})

interface Caller {
  person: TestPerson
  things: Things
  /** Value of the header `Company`. Undefined: the call has no such header. */
  company?: string | undefined
  input?: object
  /** Set, to undefined, for a call without a token. */
  token?: undefined
}

async function makeWorld() {
  const app = await makeApp()
  const suspended = await app.addCompany('Gamma', 'gamma.localhost')
  const people = {
    plain: await app.signUp(),
    admin: await signUpAs(app, 'admin'),
    operator: await signUpAs(app, 'operator'),
    foreigner: await app.signUp('beta.localhost'),
    pending: await pendingPerson(app),
    suspended: await app.signUp('gamma.localhost')
  }
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [
    people.foreigner.id
  ])
  const companies = {
    acme: app.companies[home] ?? '',
    beta: app.companies['beta.localhost'] ?? '',
    suspended
  }
  app.companies['gamma.localhost'] = suspended
  const things = {
    plain: await makeThings(app, people.plain, 'plain.pdf'),
    admin: await makeThings(app, people.admin, 'admin.pdf'),
    operator: await makeThings(app, people.operator, 'operator.pdf'),
    beta: await thingsIn(app, people.foreigner, companies.beta),
    suspended: await thingsIn(app, people.suspended, suspended)
  }
  await suspend({ app, companies })
  return { app, people, companies, things }
}

/** Suspends the company that is suspended in all tests, and no other. */
async function suspend({ app, companies }: Pick<World, 'app' | 'companies'>): Promise<void> {
  const mark = { reason: 'abuse', since: '2026-01-01T00:00:00.000Z' }
  await app.owner.query('update company set disabled = case when id = $1 then $2::jsonb end', [
    companies.suspended,
    mark
  ])
  for (const company of Object.values(companies))
    app.deps.signals.companies.send(toCompanyId(company))
}

/**
 * Signs a person up at acme. First lets the default group use all categories, because an earlier
 * call may have changed that.
 */
async function signUp(app: TestApp): Promise<TestPerson> {
  await app.owner.query(
    `insert into group_category (company_id, group_id, category_id)
     select company_id, g.id, c.id from "group" g join category c using (company_id)
      where g.is_default on conflict do nothing`
  )
  return app.signUp()
}

async function signUpAs(app: TestApp, permission: string): Promise<TestPerson> {
  const person = await signUp(app)
  await app.owner.query('update "user" set permissions = $2 where id = $1', [
    person.id,
    [permission]
  ])
  return person
}

async function pendingPerson(app: TestApp): Promise<TestPerson> {
  const { email, keys, id } = await makeSignUp(app)
  const token = await app.signIn({ host: home, email, keys })
  const call = () => Promise.reject(new Error('a pending session'))
  const company = app.companies[home]
  return { id, company, host: home, email, keys, token, category: '', call }
}

async function thingsIn(app: TestApp, person: TestPerson, company: string): Promise<Things> {
  const things = await makeThings(app, person, 'there.pdf')
  return {
    ...things,
    member: await makeInvitedPerson(app.owner, company),
    'sign-up': await makeWaitingSignUp(app.owner, company)
  }
}

/** Makes a call of administration. The input of `createUser` is then an invitation. */
async function administer(name: string, caller: Caller): Promise<RawResponse> {
  if (name !== 'createUser') return ask(name, caller)
  return ask(name, { ...caller, input: { email: `person-${randomUUID()}@example.com` } })
}

/** Makes a call with the ids of the caller's things. Creates what the call uses up. */
async function ask(name: string, caller: Caller): Promise<RawResponse> {
  const { app, people } = world
  const route = routeOf(name)
  const row = routeCaseOf(name)
  if (row.spends === 'suspension') await suspend(world)
  // examples of the setup take the permission from everybody
  await app.owner.query(`update "user" set permissions = '{operator}' where id = $1`, [
    people.operator.id
  ])
  const { things, company } = caller
  let { person } = caller
  const isSpent = !('token' in caller) && person !== people.pending
  if (row.spends === 'person' && isSpent && person.host === home) {
    const fresh = await signUp(app)
    await app.owner.query(
      'update "user" set permissions = (select permissions from "user" where id = $2) where id = $1',
      [fresh.id, person.id]
    )
    person = fresh
  }
  // their own input could not be made for these two
  const subject = person === people.pending || person.host !== home ? people.plain : person
  const given = caller.input ?? (await row.input?.(app, subject))
  const input: Record<string, unknown> = { ...given }
  for (const [field, thing] of Object.entries(row.ids ?? {})) input[field] = things[thing]
  const spent = usedUpIdFieldOf(row)
  const isOwn = row.spends === 'upload' || row.spends === 'another session'
  if (spent && (!isOwn || (isSpent && person.host === home))) {
    const { rows } = await app.owner.query('select company_id from "group" where id = $1', [
      things.group
    ])
    const maker = person === people.pending ? people.plain : person
    const namesOwner = Object.values(row.ids ?? {}).includes('key owner')
    const owner = namesOwner ? { ...maker, id: things['key owner'] } : maker
    input[spent] = await makeThingToUseUp(app, row, owner, rows[0].company_id)
  }
  const token =
    row.spends === 'session' && person.host === home ? await app.signIn(person) : person.token
  const headers = {
    ...row.headers?.(app, person),
    ...('token' in caller ? {} : { authorization: `Bearer ${token}` }),
    ...(company === undefined ? {} : { company })
  }
  return app.request(`api.${home}`, requestOf(route, input, headers, row.body))
}

/** Returns the outcome of an operator's valid call for the operator's own company. */
function doneAtHome(name: string): Outcome {
  const { ownRefusal } = routeCaseOf(name)
  return ownRefusal ? refusalOutcomeOf(ownRefusal) : successOutcomeOf(name)
}

function isOperators(name: string): boolean {
  return routeOf(name).access === 'operator'
}

/** Returns whether the input of a call has an id other than that of the company. */
function hasIds(name: string): boolean {
  return Object.values(routeCaseOf(name).ids ?? {}).some(thing => thing !== 'company')
}

/**
 * Returns a digest of the rows of all other companies. Leaves out the audit log, which gets an
 * entry for each change by the operator.
 */
async function rowsBut(company: string): Promise<Record<string, string>> {
  const { tenant } = await tablesOf(world.app.owner)
  const others = tenant.filter(table => !table.startsWith('audit_'))
  return digestRows(world.app.owner, others, `company_id <> '${company}'`)
}
