import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathParameters } from '../../../src/contract/kit/endpoint.ts'
import type { ErrorCode } from '../../../src/contract/kit/errors.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { poolOf } from '../../../src/server/db/open.ts'
import { makeApp, type RawResponse, type TestApp, type TestPerson } from '../../helpers/app.ts'
import {
  domainIdOf,
  type IdKind,
  idKinds,
  makeApiKey,
  makeAuditEntry,
  makeDataSource,
  makeGroup,
  makeImport,
  makeImportedRegister,
  makeRegisterImport,
  makeWaitingSignUp,
  requestOf,
  type Thing,
  type ThingIds,
  uploadBytes
} from '../../helpers/cases.ts'
import { makeDb } from '../../helpers/database.ts'
import { makeEmailChange, makeMailToken, makePerson, makeSignUp } from '../../helpers/mailed.ts'
import {
  addTwinCompany,
  comparableText,
  digestRows,
  dropRowSecurity,
  idFieldsOf,
  idListFieldsOf,
  makeAdmins,
  makeThings,
  makeThingToUseUp,
  type Outcome,
  optionalFieldsOf,
  outcomeOf,
  refusalOutcomeOf,
  routeCaseOf,
  routeCases,
  routeOf,
  routes,
  stripCompanyConditions,
  successOutcomeOf,
  tablesOf,
  usedUpIdFieldOf,
  withoutCompanyConditions
} from '../../helpers/matrix.ts'
import { fileColumns, makeRegister } from '../../helpers/registers.ts'

// B-01, B-02

const actors = [
  'no token',
  'a garbage token',
  'a cookie only',
  'the owner',
  'a colleague',
  'somebody of another company',
  'the owner on the other company’s host',
  'a signed-out session',
  'a disabled person',
  'somebody of a suspended company',
  'an expired token'
] as const
type Actor = (typeof actors)[number]

const refusals: Partial<Record<Actor, ErrorCode>> = {
  'a garbage token': 'unauthenticated',
  'somebody of another company': 'unauthenticated',
  'the owner on the other company’s host': 'unauthenticated',
  'a signed-out session': 'unauthenticated',
  'an expired token': 'unauthenticated',
  'a disabled person': 'account_disabled',
  'somebody of a suspended company': 'account_disabled'
}

/**
 * The actors whose answers depend on the company of a row. The others are refused or let in because
 * of their session, their role or `user_id`, so a missing layer of companies changes nothing.
 */
const actorsByCompany: readonly Actor[] = [
  'no token',
  'the owner',
  'somebody of another company',
  'the owner on the other company’s host'
]

interface Cell {
  route: string
  actor: Actor
  /**
   * The input field whose id is of the kind `kind`. All other ids are the caller's own. Undefined
   * for a call without ids.
   */
  field: string | undefined
  kind: IdKind
}

const names = Object.keys(routes)
const cells: Cell[] = names.flatMap(route => {
  const { ids = {}, idLists = {} } = routeCaseOf(route)
  const fields = [...Object.keys(ids), ...Object.keys(idLists)]
  const asked = fields.flatMap(field => idKinds.map(kind => ({ field, kind })))
  // a list without its cursor is the page that shows most
  const isWhole = fields.every(field => optionalFieldsOf(routeOf(route)).includes(field))
  const each = isWhole ? [...asked, { field: undefined, kind: 'own' as const }] : asked
  return actors.flatMap(actor => each.map(id => ({ route, actor, ...id })))
})

type World = Awaited<ReturnType<typeof makeWorld>>

/** Makes three companies, a person for each actor, and every thing once for each kind of id. */
async function makeWorld(weaken?: 'row security' | 'predicates' | 'both') {
  const app = await makeApp({ limits: { max_requests: 100_000, max_storage: 1_000_000_000 } })
  const suspended = await app.addCompany('BETA suspended', 'gamma.localhost')
  const late = await app.signUp()
  app.wait(3601)
  const owner = await app.signUp()
  const people = {
    owner,
    colleague: await app.signUp(),
    bystander: await app.signUp(),
    foreigner: await app.signUp('beta.localhost'),
    signedOut: await app.signUp(),
    disabled: await app.signUp(),
    suspended: await app.signUp('gamma.localhost'),
    late
  }
  await makeAdmins(app.owner)
  await app.owner.query(
    `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
     select company_id, gen_random_uuid(), 'second.localhost', name, title, public, locale, theme,
            verified_at from domain where host = 'acme.localhost'`
  )
  app.deps.signals.domains.send('second.localhost')
  const own = await makeThings(app, owner, 'own.pdf')
  const person = await makeThings(app, people.bystander, 'BETA colleague.pdf')
  const company = await makeThings(app, people.foreigner, 'BETA foreigner.pdf')
  const idsOf = (own: string, person: string, company: string, missing: string = randomUUID()) => {
    return { own, person, company, missing, malformed: 'not_an_id', empty: '' }
  }
  const made = (thing: Thing, missing?: string) =>
    idsOf(own[thing], person[thing], company[thing], missing)
  const imports = async (thing: Parameters<typeof makeImport>[2]) =>
    idsOf(
      await makeImport(app, 'acme.localhost', thing),
      await makeImport(app, 'gamma.localhost', thing, suspended),
      await makeImport(app, 'beta.localhost', thing)
    )
  const { 'acme.localhost': acme = '', 'beta.localhost': beta = '' } = app.companies
  const registerImports = async (thing: Parameters<typeof makeRegisterImport>[2]) =>
    idsOf(
      await makeRegisterImport(app.owner, acme, thing),
      await makeRegisterImport(app.owner, suspended, thing),
      await makeRegisterImport(app.owner, beta, thing)
    )
  const { foreigner } = people
  const companyKey = { isCompanys: true, company: suspended }
  const things: ThingIds = {
    record: made('record', anId()),
    'open request': made('open request'),
    request: made('request'),
    upload: made('upload', anId()),
    session: made('session'),
    'api key': made('api key'),
    'key owner': idsOf(owner.id, people.suspended.id, foreigner.id),
    'company api key': idsOf(
      own['company api key'],
      (await makeApiKey(app, people.suspended, companyKey)).id,
      company['company api key']
    ),
    category: idsOf(owner.category, await addCategory(app), foreigner.category),
    'company category': idsOf(owner.category, people.suspended.category, foreigner.category),
    'data source': idsOf(
      await makeDataSource(app.owner, acme),
      await makeDataSource(app.owner, suspended),
      await makeDataSource(app.owner, beta)
    ),
    domain: idsOf(
      await domainIdOf(app.owner, 'acme.localhost'),
      await domainIdOf(app.owner, 'gamma.localhost'),
      await domainIdOf(app.owner, 'beta.localhost')
    ),
    member: idsOf((await makePerson(app, true)).id, people.suspended.id, foreigner.id),
    'sign-up': idsOf(
      await makeWaitingSignUp(app.owner, acme),
      await makeWaitingSignUp(app.owner, suspended),
      await makeWaitingSignUp(app.owner, beta)
    ),
    group: idsOf(
      await makeGroup(app, 'acme.localhost'),
      await makeGroup(app, 'gamma.localhost', suspended),
      await makeGroup(app, 'beta.localhost')
    ),
    import: await imports('import'),
    'checked import': await imports('checked import'),
    'done import': await imports('done import'),
    register: idsOf(
      await makeImportedRegister(app.owner, acme),
      await makeImportedRegister(app.owner, suspended),
      await makeImportedRegister(app.owner, beta)
    ),
    'register import': await registerImports('register import'),
    'checked register import': await registerImports('checked register import'),
    'done register import': await registerImports('done register import'),
    company: idsOf(acme, suspended, beta),
    'audit entry': idsOf(
      own['audit entry'],
      await makeAuditEntry(app, people.suspended, suspended),
      company['audit entry']
    ),
    host: idsOf('acme.localhost', 'second.localhost', 'beta.localhost', 'nobody.localhost')
  }
  const signOut = requestOf(routeOf('logOut'), {}, bearerOf(people.signedOut.token))
  await app.request('api.acme.localhost', signOut)
  const mark = { reason: 'abuse', since: '2026-01-01T00:00:00.000Z' }
  await app.owner.query('update "user" set disabled = $2 where id = $1', [people.disabled.id, mark])
  await app.owner.query('update company set disabled = $2 where id = $1', [suspended, mark])
  app.deps.signals.domains.send('gamma.localhost')

  // rows of every table; the mail is not due before the tests are over
  await makeMailToken(app, 'verify', await makeSignUp(app))
  await makeEmailChange(app, late)
  await app.owner.query(
    `insert into invitation (company_id, id, recipient, due_at)
     values ($1, gen_random_uuid(), '\\x00', now())`,
    [acme]
  )
  await app.allMailsSent()
  await app.owner.query(
    `insert into mail (company_id, id, kind, email, locale, host, created_at, next_at)
     select company_id, gen_random_uuid(), 'reset', 'nobody@example.com', 'und', host, now(),
            now() + interval '1 day' from domain where host = 'acme.localhost'`
  )

  await makeRegister(app, acme, {
    columns: fileColumns,
    rows: [['ab'.repeat(32), 'Report']],
    category: owner.category
  })
  await app.owner.query(
    `insert into register_fault (company_id, import_id, number, reasons, sealed)
     values ($1, gen_random_uuid(), 1, '[]', '')`,
    [acme]
  )
  await app.owner.query(
    `insert into lookup_miss (company_id, counter, misses, expires_at) values ($1, '', 1, now())`,
    [acme]
  )
  await app.owner.query(
    `insert into domain_theme (company_id, domain_id, number, theme, published_at)
     select company_id, id, 1, theme, now() from domain`
  )

  // made before the twin, which has them too
  const spareUploads: string[] = []
  for (let more = 0; more < 2; more++) {
    const { upload } = await app.reserve(owner, uploadBytes, 'spent.pdf')
    spareUploads.push(upload.slice('/uploads/'.length))
  }
  await addTwinCompany(app.owner, acme)
  const tenantTables = (await tablesOf(app.owner)).tenant
  const others = async () => ({
    companies: await digestRows(app.owner, tenantTables, `company_id <> '${acme}'`),
    bystander: await digestRows(
      app.owner,
      ['user_key', 'session', 'request', 'event', 'upload', 'deposit'],
      `company_id = '${acme}' and user_id = '${people.bystander.id}'`
    )
  })
  const before = await others()
  if (weaken === 'row security' || weaken === 'both') await dropRowSecurity(app.owner)
  let transactions = 0
  poolOf(app.deps.db).on('acquire', () => transactions++)
  const layer =
    weaken === 'predicates' || weaken === 'both' ? stripCompanyConditions(app.deps.db) : undefined
  return {
    app,
    people,
    things,
    spareUploads,
    /**
     * A valid input for each route. Actors whose calls are refused share it, because a refused call
     * uses nothing up.
     */
    inputs: new Map<string, object>(),
    fingerprint: own.fingerprint,
    others,
    before,
    layer,
    transactions: () => transactions,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]()
  }
}

/**
 * The parts of the matrix whose calls queried the database when all layers were in place. Only
 * these parts are tested again without a layer of the database, because the others cannot differ.
 */
const reaching = new Set<string>()
const known = new Set<string>()
const partOf = ({ route, actor, field, kind }: Cell) =>
  `${route} ${actor} ${field} ${kind === 'malformed' || kind === 'empty' ? 'no id' : 'an id'}`

describe.each([
  ['with every layer', undefined],
  ['without row-level security', 'row security'],
  ['without company_id in the queries', 'predicates']
] as const)('%s', (_title, weaken) => {
  let world: World
  const answers = new Map<Cell, RawResponse>()
  beforeAll(async () => {
    world = await makeWorld(weaken)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test.each(names)('%s answers each actor for each kind of id', async route => {
    for (const cell of cells.filter(each => each.route === route)) {
      if (weaken && !actorsByCompany.includes(cell.actor)) continue
      if (weaken && known.has(partOf(cell)) && !reaching.has(partOf(cell))) continue
      const { response, reachedDatabase } = await ask(world, cell)
      known.add(partOf(cell))
      if (!weaken && reachedDatabase) reaching.add(partOf(cell))
      answers.set(cell, response)
      const id = cell.field === undefined ? 'no id' : `${cell.kind} ${cell.field}`
      const name = `${cell.route} by ${cell.actor} with ${id}`
      expect.soft(outcomeOf(response), name).toEqual(expectedOf(cell))
      expect.soft(foreignIn(response), name).toBeUndefined()
    }
  })

  test('refuses what is another’s and what is not there byte for byte alike', () => {
    const asked = cells.filter(({ kind }) => ['person', 'company', 'missing'].includes(kind))
    const groups = Map.groupBy(asked, ({ route, field, actor }) => `${route} ${field} ${actor}`)
    for (const [name, group] of groups) {
      const seen = group.flatMap(cell => {
        const answer = answers.get(cell)
        return answer ? [textWithoutId(world, cell, answer)] : []
      })
      if (weaken && seen.length === 0) continue
      expect(new Set(seen).size, name).toBe(1)
      expect(seen).toHaveLength(3)
    }
    if (weaken) return
    // a colleague, who knows the owner's id, learns no more than from one that is not there
    for (const cell of cells.filter(each => each.actor === 'a colleague' && each.kind === 'own')) {
      if (cell.field === undefined || routeCaseOf(cell.route).shared) continue
      const missing = asked.find(
        each => each.route === cell.route && each.actor === cell.actor && each.kind === 'missing'
      )
      const [one, other] = [answers.get(cell), missing && answers.get(missing)]
      if (!one || !other) throw new Error(`${cell.route} was not asked`)
      expect(comparableText(one), cell.route).toBe(comparableText(other))
    }
  })

  test('leaves every row of the others as it was', async () => {
    expect(await world.others()).toEqual(world.before)
  })

  test('counts the caller’s own company only', async () => {
    const { rows: sums } = await world.app.owner.query(
      `select kind, sum(used + reserved)::int as taken from usage where company_id = $1 group by kind`,
      [world.app.companies['acme.localhost']]
    )
    const takenOf = (kind: string) => sums.find(row => row.kind === kind)?.taken ?? 0
    const { owner } = world.people
    // calls of the matrix have made the owner a member of more groups
    const { rows: limits } = await world.app.owner.query(
      `select sum(max_requests)::int as requests, sum(max_storage)::int as storage
         from "group" join group_user using (company_id)
        where company_id = $1 and group_id = "group".id and user_id = $2`,
      [world.app.companies['acme.localhost'], owner.id]
    )
    const { usage_remaining, usage } = await owner.call(getOwnAccount, {})
    expect(usage_remaining).toEqual({
      requests: limits[0].requests - takenOf('requests'),
      storage: limits[0].storage - takenOf('storage')
    })
    expect(usage?.own?.requests_used).toBeLessThanOrEqual(takenOf('requests'))
    expect(usage?.own?.storage_used).toBeLessThanOrEqual(takenOf('storage'))
  })

  test('finds no file of another company, and tells it from no file by nothing', async () => {
    const { app, people } = world
    const fingerprint = (await makeThings(app, people.foreigner, 'BETA.pdf')).fingerprint
    const other = fingerprint.replace(/^./, digit => (digit === '0' ? '1' : '0'))
    for (const token of [undefined, people.owner.token]) {
      const asked = [fingerprint, other, world.fingerprint]
      const input = { items: asked.map(sha256 => ({ sha256 })) }
      const { items } = await app.call('acme.localhost', verify, input, token ? { token } : {})
      const [foreign, missing, own] = items.map(({ sha256: _, ...facts }) => facts)
      expect(own?.findings).toHaveLength(1)
      expect(foreign).toMatchObject({ verdict: 'not_found', findings: [] })
      expect(foreign).toEqual(missing)
    }
  })

  if (weaken !== 'predicates') return

  test('has sent no predicate on company_id', () => {
    expect(world.layer?.stripped()).toBeGreaterThan(400)
    for (const sql of world.layer?.texts ?? []) {
      expect(withoutCompanyConditions(sql)).not.toMatch(/company_id"?\s*(=|in\b|any\b|is\b)/i)
    }
  })

  test('names the company for every tenant table of a statement', async () => {
    const { tenant } = await tablesOf(world.app.owner)
    const texts = [...(world.layer?.texts ?? [])]
    const ofTenants = texts.filter(sql => tablesIn(sql, tenant).length > 0)
    expect(ofTenants.length).toBeGreaterThan(40)
    for (const sql of ofTenants) {
      const named = sql.match(/company_id/g)?.length ?? 0
      expect(named, sql).toBeGreaterThanOrEqual(tablesIn(sql, tenant).length)
    }
  })
})

test('leaks without both layers, so that the matrix proves something', async () => {
  await using world = await makeWorld('both')
  const reading = [
    'getOwnAccount',
    'listAllowedCategories',
    'listRequests',
    'getRequest',
    'headUpload'
  ]
  const leaking = new Set<string>()
  const asked = cells.filter(({ route, actor, kind }) => {
    return reading.includes(route) && actor === 'the owner' && kind === 'own'
  })
  for (let round = 0; round < 3; round++) {
    for (const cell of asked) {
      const { response } = await ask(world, cell)
      const isWrong = JSON.stringify(outcomeOf(response)) !== JSON.stringify(expectedOf(cell))
      if (isWrong || foreignIn(response)) leaking.add(cell.route)
    }
  }
  expect([...leaking]).toEqual(reading)
})

test('has a row for every route and a thing for every id', () => {
  expect(Object.keys(routeCases).sort(), 'rows of tests/api/<room>/<noun>.cases.ts').toEqual(
    names.toSorted()
  )
  for (const name of names) {
    const place = `ids of ${name} in tests/api/<room>/<noun>.cases.ts`
    const { ids = {}, reachesOthers } = routeCaseOf(name)
    const named = idFieldsOf(routeOf(name)).filter(
      field => !(reachesOthers && field === 'company_id')
    )
    expect(Object.keys(ids).sort(), place).toEqual(named)
    const lists = Object.keys(routeCaseOf(name).idLists ?? {})
    expect(lists, `idLists of ${name}`).toEqual(idListFieldsOf(routeOf(name)))
  }
  expect(actors).toHaveLength(11)
  expect(cells.length).toBeGreaterThan(600)
})

describe('the application role', () => {
  let world: World
  beforeAll(async () => {
    world = await makeWorld()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('sees no row of any tenant table with no company set, and none of others with one', async () => {
    const { app } = world
    const { tenant } = await tablesOf(app.owner)
    const company = app.companies['acme.localhost']
    const client = await poolOf(app.deps.db).connect()
    try {
      expect((await client.query('select current_user as name')).rows[0].name).toBe('vidimus_app')
      for (const name of [...tenant, 'company']) {
        const key = name === 'company' ? 'id' : 'company_id'
        const countOf = async (where: string) => {
          const text = `select count(*)::int as count from "${name}" where ${where}`
          return (await client.query(text)).rows[0].count
        }
        await client.query('begin')
        expect(await countOf('true'), name).toBe(0)
        await client.query(`select set_config('app.company_id', '', true)`)
        expect(await countOf('true'), name).toBe(0)
        await client.query(`select set_config('app.company_id', '${company}', true)`)
        expect(await countOf(`${key} <> '${company}'`), name).toBe(0)
        expect(await countOf('true'), name).toBeGreaterThan(0)
        await client.query('rollback')
        const { rows: all } = await app.owner.query(
          `select count(*)::int as count from "${name}" where ${key} <> $1`,
          [company]
        )
        expect(all[0].count, `${name} of others`).toBeGreaterThan(0)
      }
    } finally {
      client.release()
    }
  })

  test.each([
    ['row_security off', `set local row_security = off; select * from "user"`],
    ['the owner’s role', 'set role postgres'],
    ['the resolver’s role', 'set role vidimus_resolver'],
    ['a policy of its own', `create policy mine on "user" using (true)`],
    ['a change of policies', `alter table "user" disable row level security`],
    ['a table of its own', 'create table mine (id int)'],
    ['a function of its own', `create function mine() returns int language sql as 'select 1'`],
    ['deleting people', `delete from "user"`],
    ['changing the record', `update log_leaf set leaf = ''`],
    ['deleting the record', 'delete from log_leaf'],
    ['changing the audit log', `update audit_entry set action = ''`],
    ['deleting the audit log', 'delete from audit_entry'],
    ['changing events', `update event set payload = '{}'`],
    ['changing deposits', `update deposit set visibility = 'public'`],
    ['files of the server', `copy "user" to '/dev/null'`],
    ['programs of the server', `copy "user" to program 'cat'`],
    ['loading of libraries', `load 'auto_explain'`]
  ])('is refused %s', async (_title, sql) => {
    const client = await poolOf(world.app.deps.db).connect()
    try {
      await client.query('begin')
      await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' })
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('moves no row into another company', async () => {
    const { app } = world
    const [acme, beta] = [app.companies['acme.localhost'], app.companies['beta.localhost']]
    const client = await poolOf(app.deps.db).connect()
    try {
      for (const sql of [
        `update category set company_id = '${beta}'`,
        `update session set company_id = '${beta}'`,
        `insert into category (company_id, id, names, visibility, created_at)
         values ('${beta}', gen_random_uuid(), '{}', 'public', now())`
      ]) {
        await client.query(`begin; select set_config('app.company_id', '${acme}', true)`)
        await expect(client.query(sql), sql).rejects.toMatchObject({ code: '42501' })
        await client.query('rollback')
      }
    } finally {
      client.release()
    }
  })
})

describe('the catalogue', () => {
  let database: Awaited<ReturnType<typeof makeDb>>
  beforeAll(async () => {
    database = await makeDb()
  })
  afterAll(() => database[Symbol.asyncDispose]())

  const platformTables = [
    'company',
    'host_change',
    'installation',
    'schema_lock',
    'schema_migration',
    'setup_code',
    'certificate_name',
    'rate_count',
    'platform_key'
  ]
  const query = async (sql: string) => (await database.owner.query(sql)).rows

  test('forces row-level security with the one policy on every table of a company', async () => {
    const { all, tenant } = await tablesOf(database.owner)
    expect(all.filter(name => !tenant.includes(name) && !platformTables.includes(name))).toEqual([])
    const mine = `(company_id = (NULLIF(current_setting('app.company_id'::text, true), ''::text))::uuid)`
    const found = await query(
      `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
              pg_get_expr(polqual, polrelid) as reads, pg_get_expr(polwithcheck, polrelid) as writes,
              polcmd as command, polpermissive as permissive, polroles = '{0}' as everybody
         from pg_class c left join pg_policy p on p.polrelid = c.oid and p.polname = 'tenant'
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`
    )
    for (const name of [...tenant, 'company']) {
      const own = name === 'company' ? mine.replace('(company_id', '(id') : mine
      const policies = found.filter(row => row.name === name)
      const policy = { forced: true, reads: own, writes: own, command: '*' }
      expect(policies, name).toEqual([{ name, ...policy, permissive: true, everybody: true }])
    }
    const others = await query(
      `select polrelid::regclass::text as name, polcmd as command, polroles::regrole[]::text as roles
         from pg_policy where polname <> 'tenant' order by 1, 2`
    )
    expect(others).toEqual([
      { name: '"user"', command: 'r', roles: '{vidimus_resolver}' },
      { name: 'company', command: 'r', roles: '{vidimus_resolver}' },
      { name: 'domain', command: 'r', roles: '{vidimus_resolver}' },
      { name: 'domain', command: 'w', roles: '{vidimus_resolver}' },
      { name: 'domain', command: 'w', roles: '{vidimus_resolver}' },
      { name: 'usage', command: 'r', roles: '{vidimus_resolver}' },
      { name: 'usage_day', command: 'r', roles: '{vidimus_resolver}' }
    ])
  })

  test('leads every unique key with company_id, but for the two that must be unique everywhere', async () => {
    const { tenant } = await tablesOf(database.owner)
    const found = await query(
      `select i.indexrelid::regclass::text as index, t.relname as table, a.attname as first
         from pg_index i
         join pg_class t on t.oid = i.indrelid and t.relnamespace = 'public'::regnamespace
         join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indisunique`
    )
    const keys = found.filter(row => tenant.includes(row.table))
    const loose = keys.filter(row => row.first !== 'company_id').map(row => row.index)
    expect(loose.sort()).toEqual(['domain_host', 'log_state_origin_key'])
    expect(new Set(keys.map(row => row.table))).toEqual(new Set(tenant))
  })

  test('joins tables by foreign keys that carry the company', async () => {
    const { tenant } = await tablesOf(database.owner)
    const found = await query(
      `select conrelid::regclass::text as from, confrelid::regclass::text as to,
              pg_get_constraintdef(oid) as text
         from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`
    )
    const plain = (name: string) => name.replaceAll('"', '')
    for (const { from, to, text } of found) {
      expect(text, from).toMatch(
        to === 'company'
          ? /^FOREIGN KEY \(company_id\) REFERENCES company\(id\)/
          : /^FOREIGN KEY \(company_id, \w+\) REFERENCES "?\w+"?\(company_id, \w+\)/
      )
    }
    const joined = new Set(found.map(row => plain(row.from)))
    // the rows of a register are too many for a check of each
    const loose = ['register_fault', 'register_row']
    expect(tenant.filter(name => !joined.has(name)).sort()).toEqual(loose)
  })

  test('has eighteen functions that reach across companies, two that delete, and no view', async () => {
    const definers = await query(
      `select proname as name, proowner::regrole::text as owner, proconfig as config,
              has_function_privilege('public', oid, 'execute') as everybody
         from pg_proc where prosecdef and pronamespace = 'public'::regnamespace order by 1`
    )
    const pinned = { config: ['search_path=pg_catalog, pg_temp'], everybody: false }
    expect(definers).toEqual([
      { name: 'all_companies', owner: 'vidimus_resolver', ...pinned },
      { name: 'company_usage', owner: 'vidimus_resolver', ...pinned },
      { name: 'erase_audit_values', owner: 'vidimus_resolver', ...pinned },
      { name: 'first_domains', owner: 'vidimus_resolver', ...pinned },
      { name: 'has_own_domain', owner: 'vidimus_resolver', ...pinned },
      { name: 'hosts_of_others_below', owner: 'vidimus_resolver', ...pinned },
      { name: 'installed_companies', owner: 'vidimus_resolver', ...pinned },
      { name: 'is_claimed_by_namesake', owner: 'vidimus_resolver', ...pinned },
      { name: 'is_covered_by', owner: 'vidimus_resolver', ...pinned },
      { name: 'is_proved_host', owner: 'vidimus_resolver', ...pinned },
      { name: 'keeps_localhost', owner: 'vidimus_resolver', ...pinned },
      { name: 'list_companies', owner: 'vidimus_resolver', ...pinned },
      { name: 'list_hosts', owner: 'vidimus_resolver', ...pinned },
      { name: 'move_domain', owner: 'vidimus_resolver', ...pinned },
      { name: 'note_host_change', owner: 'vidimus_resolver', ...pinned },
      { name: 'remove_demo', owner: 'vidimus_resolver', ...pinned },
      { name: 'remove_invited_people', owner: 'vidimus_resolver', ...pinned },
      { name: 'require_own_proofs', owner: 'vidimus_resolver', ...pinned },
      { name: 'resolve_host', owner: 'vidimus_resolver', ...pinned },
      { name: 'restore_covered_hosts', owner: 'vidimus_resolver', ...pinned }
    ])
    const views = await query(
      `select relname from pg_class where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace`
    )
    expect(views).toEqual([])
    const roles = await query(
      `select rolname as name, rolcanlogin as login from pg_roles
        where rolname like 'vidimus%' and not (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb)
        order by 1`
    )
    expect(roles).toEqual([
      { name: 'vidimus_app', login: true },
      { name: 'vidimus_resolver', login: false }
    ])
  })

  test('lets the functions’ owner delete rows, and read nothing of them but whose they are and how many', async () => {
    const { tenant } = await tablesOf(database.owner)
    const grants = await query(
      `select table_name || ' ' || lower(privilege_type) as right
         from information_schema.role_table_grants where grantee = 'vidimus_resolver'`
    )
    expect(grants.map(grant => grant.right).sort()).toEqual(
      [
        ...[...tenant, 'company'].map(name => `${name} delete`),
        'company select',
        'domain select',
        ...['delete', 'insert', 'select', 'update'].map(right => `host_change ${right}`)
      ].sort()
    )
    const columns = await query(
      `select table_name as table, column_name || ' ' || lower(privilege_type) as right
         from information_schema.role_column_grants
        where grantee = 'vidimus_resolver'
          and table_name <> 'host_change'
          and (table_name not in ('company', 'domain') or privilege_type <> 'SELECT')
          and not (table_name = 'domain' and privilege_type = 'UPDATE')`
    )
    const rights = Map.groupBy(columns, column => column.right)
    expect([...rights.keys()].sort()).toEqual([
      'activated_at select',
      'company_id select',
      'day select',
      'deleted_at select',
      'demo update',
      'deposits select',
      'id select',
      'kind select',
      'permissions select',
      'person_id select',
      'used select',
      'verifications select'
    ])
    const columnsOf = {
      user: ['id', 'activated_at', 'permissions', 'deleted_at'],
      usage: ['kind', 'used'],
      usage_day: ['day', 'deposits', 'verifications']
    }
    for (const [table, names] of Object.entries(columnsOf)) {
      for (const name of names) {
        expect(rights.get(`${name} select`)?.map(right => right.table)).toEqual([table])
      }
    }
    expect(rights.get('person_id select')?.map(({ table }) => table)).toEqual(['audit_value'])
    expect(rights.get('demo update')?.map(({ table }) => table)).toEqual(['company'])
    expect(await query('select from pg_default_acl')).toEqual([])
  })
})

async function ask(
  world: World,
  cell: Cell
): Promise<{ response: RawResponse; reachedDatabase: boolean }> {
  const { app, people, things, spareUploads } = world
  const route = routeOf(cell.route)
  const row = routeCaseOf(cell.route)
  const { host, headers: sent } = await actorOf(world, cell)
  const succeeds = expectedOf(cell).status < 300
  const isSpent = succeeds && row.spends === 'person'
  const owner = isSpent ? await app.signUp() : people.owner
  const input = { ...(await inputOf(world, cell, owner)) }
  for (const [field, thing] of Object.entries(row.ids ?? {})) {
    if (cell.field === undefined) continue
    input[field] = things[thing][field === cell.field ? cell.kind : 'own']
    if (!succeeds || cell.kind !== 'own' || field !== usedUpIdFieldOf(row)) continue
    input[field] =
      row.spends === 'upload' ? spareUploads.pop() : await makeThingToUseUp(app, row, people.owner)
  }
  for (const [field, { of, instead }] of Object.entries(row.idLists ?? {})) {
    if (field !== cell.field) continue
    input[field] = [things[of][cell.kind]]
    if (instead) delete input[instead]
  }
  const request = requestOf(
    route,
    input,
    { ...row.headers?.(app, owner), ...(isSpent ? bearerOf(owner.token) : sent) },
    row.body
  )
  const before = world.transactions()
  const response = await app.request(`api.${host}`, request)
  return { response, reachedDatabase: world.transactions() > before }
}

/** Returns an answer as text without the id of the call and without the time. */
function textWithoutId({ things }: World, cell: Cell, answer: RawResponse): string {
  const { ids = {}, idLists = {} } = routeCaseOf(cell.route)
  const thing = ids[cell.field ?? ''] ?? idLists[cell.field ?? '']?.of
  const text = comparableText(answer).replace(/\\"until\\":\\"[^"]+"/, '')
  return thing ? text.replaceAll(things[thing][cell.kind], 'the id') : text
}

/** Returns the input of a valid call. It is made once for all actors who may not make the call. */
async function inputOf(
  { app, inputs }: World,
  cell: Cell,
  owner: TestPerson
): Promise<Record<string, unknown>> {
  const make = routeCaseOf(cell.route).input
  const made = inputs.get(cell.route)
  if (made && keptOutBy(cell.route, cell.actor)) return { ...made }
  const input = { ...(await make?.(app, owner)) }
  inputs.set(cell.route, input)
  return input
}

interface Standing {
  host: string
  person: TestPerson | undefined
  headers: Record<string, string>
}

async function actorOf({ app, people }: World, { actor, route }: Cell): Promise<Standing> {
  const home = 'acme.localhost'
  const as = (person: TestPerson, host = home): Standing => {
    return { host, person, headers: bearerOf(person.token) }
  }
  const spending = async (person: TestPerson): Promise<Standing> => {
    const isSpent = routeCaseOf(route).spends === 'session'
    return isSpent ? as({ ...person, token: await app.signIn(person) }) : as(person)
  }
  switch (actor) {
    case 'no token':
      return { host: home, person: undefined, headers: {} }
    case 'a garbage token':
      return { host: home, person: undefined, headers: bearerOf('garbage') }
    case 'a cookie only':
      return {
        host: home,
        person: undefined,
        headers: { cookie: `__Host-vidimus=${people.owner.token}` }
      }
    case 'the owner':
      return spending(people.owner)
    case 'a colleague':
      return spending(people.colleague)
    case 'somebody of another company':
      return as(people.foreigner)
    case 'the owner on the other company’s host':
      return as(people.owner, 'beta.localhost')
    case 'a signed-out session':
      return as(people.signedOut)
    case 'a disabled person':
      return as(people.disabled)
    case 'somebody of a suspended company':
      return as(people.suspended, 'gamma.localhost')
    case 'an expired token':
      return as(people.late)
  }
}

/** Returns the code with which a call refuses an actor, whatever the actor asks for. */
function keptOutBy(name: string, actor: Actor): ErrorCode | undefined {
  const { access } = routeOf(name)
  const isStranger = actor === 'no token' || actor === 'a cookie only'
  if (isStranger && access !== 'public') return 'unauthenticated'
  // here everybody is an administrator and nobody an operator
  return refusals[actor] ?? (access === 'operator' ? 'forbidden' : undefined)
}

function expectedOf({ route: name, actor, field, kind }: Cell): Outcome {
  const route = routeOf(name)
  const row = routeCaseOf(name)
  const refusal = (code: ErrorCode) => refusalOutcomeOf(code, route)
  // without one of its segments a path is another one, which nobody has
  const isCut = kind === 'empty' && pathParameters(route.path).includes(field ?? '')
  if (isCut && !route.path.startsWith('/uploads/')) return refusal('not_found')
  const keptOut = keptOutBy(name, actor)
  if (keptOut) return refusal(keptOut)
  if (kind === 'malformed' || kind === 'empty') return refusal(row.malformed ?? 'invalid_input')
  if (row.proves && actor !== 'the owner') return refusal(row.proves)
  const isFilter = row.filters?.includes(field ?? '') === true
  const isColleagues = actor === 'a colleague' && !row.shared && field !== undefined
  const isOthers = (kind !== 'own' && !isFilter) || isColleagues
  if (isOthers) return refusal(row.refusal ?? 'not_found')
  return successOutcomeOf(name)
}

/**
 * Returns a mark of another company or person that an answer contains, or undefined if it has none.
 * Ids are no marks, because the answer may repeat an id of the input.
 */
function foreignIn({ headers, body }: RawResponse): string | undefined {
  const text = `${JSON.stringify(headers)}${body}`
  // as words of their own: random ids and keys in an answer contain such letters now and then
  return /(?<![\w+/-])(?:TWIN|BETA)(?![\w+/-])|("seq":|-length":")7\d{6}\b|7777777777/.exec(
    text
  )?.[0]
}

async function addCategory(app: TestApp): Promise<string> {
  const id = randomUUID()
  await app.owner.query(
    `insert into category (company_id, id, names, visibility, created_at)
     values ($1, $2::uuid, jsonb_build_object('en', 'BETA ' || $2, 'fr', 'BETA ' || $2), 'public', now())`,
    [app.companies['acme.localhost'], id]
  )
  return id
}

/** Returns the tenant tables that a statement names: `'select … from "request"'` → `['request']` */
function tablesIn(sql: string, tenant: string[]): string[] {
  const named = [...sql.matchAll(/\b(?:from|join|update|into)\s+"?(\w+)"?/gi)]
  return named.map(match => match[1] ?? '').filter(name => tenant.includes(name))
}

function bearerOf(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

function anId(): string {
  return randomBytes(16).toString('base64url')
}
