import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listRequests } from '../../../src/contract/requests.ts'
import { listOfferedSources, verify } from '../../../src/contract/verifications.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeCategory, makeGroup } from '../../helpers/cases.ts'
import { diplomaColumns, fileColumns, makeRegister } from '../../helpers/registers.ts'

// B-10

const host = 'acme.localhost'
let app: TestApp
let ada: TestPerson
let company: string
let open: string
let closed: string
let files: { id: string; name: string }
let diplomas: { id: string; name: string }
let hidden: { id: string; name: string }

const listed = randomBytes(32).toString('hex')
const secret = randomBytes(32).toString('hex')
const fields = ['Lovelace', '1815-12-10']

beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  company = ada.company
  open = await makeCategory(app, host)
  closed = await makeCategory(app, host, { visibility: 'private' })
  files = await makeRegister(app, company, {
    columns: fileColumns,
    rows: [[listed, 'Degree of Ada']],
    category: open
  })
  diplomas = await makeRegister(app, company, {
    columns: diplomaColumns,
    rows: [['D-0001', ...fields, 'Master of Science']],
    category: open
  })
  hidden = await makeRegister(app, company, {
    columns: diplomaColumns,
    rows: [['D-0001', ...fields, 'Doctor']],
    category: closed
  })
  await makeRegister(app, company, {
    columns: fileColumns,
    rows: [[secret, 'Secret']],
    category: closed
  })
  await makeRegister(app, company, { columns: fileColumns, rows: [[secret, 'In no category']] })
})
afterAll(() => app[Symbol.asyncDispose]())
// no test reaches the limits of another
beforeEach(() => app.owner.query('delete from lookup_miss'))

const asked = (more: { reference?: string; data_source?: string; fields?: string[] } = {}) => ({
  reference: 'D-0001',
  data_source: diplomas.id,
  fields,
  ...more
})
type Asked = ReturnType<typeof asked>
const stranger = (items: ({ sha256: string } | Asked)[], address = '192.0.2.1') =>
  app.call(host, verify, { items }, { address })

describe('a stranger', () => {
  test('learns which register lists a file, its version and the shown values', async () => {
    const { items, sources } = await stranger([{ sha256: listed }, { sha256: secret }])
    expect(sources).toEqual([
      { id: files.id, name: files.name, version: 1, at: expect.any(String) }
    ])
    expect(items).toMatchObject([
      {
        sha256: listed,
        verdict: 'known_to_register',
        findings: [],
        records: 0,
        sources: [
          {
            id: files.id,
            result: 'found',
            values: [
              { labels: { en: 'Fingerprint', fr: 'Empreinte' }, value: listed },
              { labels: { en: 'Title', fr: 'Titre' }, value: 'Degree of Ada' }
            ]
          }
        ]
      },
      { verdict: 'not_found', sources: [{ id: files.id, result: 'not_found' }] }
    ])
  })

  test('finds a deposit first, and is told of the register beside it', async () => {
    const bytes = randomBytes(64)
    await app.deposit(ada, bytes)
    const { sources } =
      (await stranger([{ sha256: createHash('sha256').update(bytes).digest('hex') }])).items[0] ??
      {}
    expect(sources).toEqual([{ id: files.id, result: 'not_found' }])
  })

  test('looks up a reference with its check fields, however they are written', async () => {
    const { items, sources } = await stranger([
      asked({ reference: ' d-0001', fields: ['LOVELACE', '1815-12-10'] })
    ])
    expect(sources.map(({ id }) => id)).toEqual([diplomas.id])
    expect(items[0]).toMatchObject({ verdict: 'known_to_register' })
    expect(items[0]).not.toHaveProperty('sha256')
    expect(items[0]?.sources[0]?.values?.map(({ value }) => value)).toEqual([
      'D-0001',
      'Master of Science'
    ])
  })

  test('gets the same bytes for a wrong field as for an unknown reference', async () => {
    const bytesOf = async (item: Asked) => {
      const { body, status } = await app.request(`api.${host}`, {
        method: 'POST',
        path: verify.path,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ items: [item] })
      })
      return [status, body.toString().replace(/"at":"[^"]*"/, '"at":"…"')]
    }
    const unknown = await bytesOf(asked({ reference: 'D-9999' }))
    expect(unknown[0]).toBe(200)
    expect(await bytesOf(asked({ fields: ['Byron', '1815-12-10'] }))).toEqual(unknown)
    expect(await bytesOf(asked({ fields: ['Lovelace', '1815-12-11'] }))).toEqual(unknown)
  })

  test('cannot tell a register that is not offered from one that does not exist', async () => {
    const codes = [hidden.id, files.id, randomUUID()].map(data_source =>
      stranger([asked({ data_source })]).catch(error => [error.status, error.code, error.message])
    )
    const [first, ...others] = await Promise.all(codes)
    expect(first).toEqual([404, 'not_found', expect.any(String)])
    for (const other of others) expect(other).toEqual(first)
  })

  test('must give as many fields as the register checks', async () => {
    const refused = stranger([asked({ fields: ['Lovelace'] })])
    await expect(refused).rejects.toMatchObject({ code: 'invalid_input' })
  })

  test('sees offered registers without private ones, and what they ask for', async () => {
    expect(await app.call(host, listOfferedSources, {})).toEqual([
      {
        id: diplomas.id,
        name: diplomas.name,
        reference: { en: 'Diploma number', fr: 'Numéro de diplôme' },
        fields: [
          { labels: { en: 'Last name', fr: 'Nom' }, type: 'text' },
          { labels: { en: 'Date of birth', fr: 'Date de naissance' }, type: 'date' }
        ]
      }
    ])
  })

  test('of another company finds nothing', async () => {
    expect(await app.call('beta.localhost', listOfferedSources, {})).toEqual([])
    const { items } = await app.call('beta.localhost', verify, { items: [{ sha256: listed }] })
    expect(items).toMatchObject([{ verdict: 'not_found', sources: [] }])
    const refused = app.call('beta.localhost', verify, { items: [asked()] })
    await expect(refused).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('rows of a segment that no version refers to are not found', async () => {
  const { id } = await makeRegister(app, company, {
    columns: fileColumns,
    rows: [[randomBytes(32).toString('hex'), 'Old']],
    category: open
  })
  const digest = randomBytes(32).toString('hex')
  const other = await makeRegister(app, company, {
    columns: fileColumns,
    rows: [[digest, 'Staged']],
    category: open
  })
  await app.owner.query(`update data_source set segments = '{7}' where id = $1`, [other.id])
  const { items } = await stranger([{ sha256: digest }])
  expect(items[0]?.verdict).toBe('not_found')
  await app.owner.query('delete from category_data_source where source_id = any ($1)', [
    [id, other.id]
  ])
})

test('members ask private registers, and their history counts by verdict and register', async () => {
  const bea = await app.signUp()
  const member = { items: [{ sha256: secret }, { sha256: listed }, asked()] }
  expect((await bea.call(verify, member)).items.map(({ verdict }) => verdict)).toEqual([
    'not_found',
    'known_to_register',
    'known_to_register'
  ])
  await app.owner.query(
    `with added as (
       insert into group_category (company_id, group_id, category_id) values ($1, $2, $3)
     )
     insert into group_user (company_id, group_id, user_id) values ($1, $2, $4)`,
    [company, await makeGroup(app, host), closed, bea.id]
  )
  const { items } = await bea.call(verify, member)
  expect(items.map(({ verdict }) => verdict)).toEqual(Array(3).fill('known_to_register'))
  expect((await bea.call(listOfferedSources, {})).map(({ id }) => id).sort()).toEqual(
    [diplomas.id, hidden.id].sort()
  )
  const [entry] = await bea.call(listRequests, {})
  expect(entry).toMatchObject({
    items: { asked: 3, authentic: 0, known_to_register: 3, not_found: 0, indeterminate: 0 }
  })
  expect(entry?.registers).toContainEqual({ ...diplomas, found: 1 })
  const { rows } = await app.owner.query(
    `select count(*)::int from request where facts::text ilike any (array['%lovelace%', '%D-0001%'])`
  )
  expect(rows).toEqual([{ count: 0 }])
})

describe('misses by reference', () => {
  const miss = (more: object = {}, address?: string) =>
    stranger([asked({ fields: ['Wrong', '1815-12-10'], ...more })], address)
  const limited = { code: 'lookup_limited', status: 429 }

  test('are ten a minute for a network, exactly, and hits do not count', async () => {
    for (let hits = 0; hits < 12; hits++) await stranger([asked()])
    const answers = await Promise.allSettled(
      Array.from({ length: 30 }, (_, at) => miss({ reference: `N-${at}` }))
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    await expect(stranger([asked()])).rejects.toMatchObject(limited)
    await expect(stranger([asked()], '192.0.2.2')).resolves.toBeDefined()
    app.wait(61)
    await expect(stranger([asked()])).resolves.toBeDefined()
  })

  test('are sixty a day for a network and for a person', async () => {
    const bea = await app.signUp()
    for (const call of [
      (items: Asked[]) => stranger(items),
      (items: Asked[]) => bea.call(verify, { items })
    ]) {
      for (let at = 0; at < 6; at++) {
        await call(
          Array.from({ length: 10 }, (_, index) => asked({ reference: `S-${at}-${index}` }))
        )
        app.wait(61)
      }
      await expect(call([asked()])).rejects.toMatchObject({
        ...limited,
        figures: { used: 60, limit: 60 }
      })
    }
  })

  test.each(['D-0001', 'D-4711'])(
    'of %s are twenty a day, and then only networks without a miss go on',
    async reference => {
      for (let at = 0; at < 20; at++) await miss({ reference }, `198.51.100.${at}`)
      const again = () => stranger([asked({ reference })], '198.51.100.3')
      await expect(again()).rejects.toMatchObject(limited)
      await expect(miss({ reference }, '198.51.100.4')).rejects.toMatchObject(limited)
      // a holder whose network has missed nothing
      const { items } = await stranger([asked({ reference })], '203.0.113.9')
      expect(items[0]?.verdict).toBe(reference === 'D-0001' ? 'known_to_register' : 'not_found')
      app.wait(86_401)
      await expect(again()).resolves.toBeDefined()
    }
  )

  test.each(['D-0001', 'D-4711'])(
    'of %s are twenty, exactly, for networks that have missed before',
    async reference => {
      const networks = Array.from({ length: 30 }, (_, at) => `203.0.113.${at}`)
      for (const [at, address] of networks.entries()) await miss({ reference: `B-${at}` }, address)
      const answers = await Promise.allSettled(
        networks.map(address => miss({ reference }, address))
      )
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    }
  )

  test('are counted for a signed-in person, and not for the network', async () => {
    const [bea, eve] = [await app.signUp(), await app.signUp()]
    const ask = (person: TestPerson, more: object, address: string) =>
      person.call(verify, { items: [asked(more)] }, { address })
    const wrong = { fields: ['Wrong', '1815-12-10'] }
    for (let at = 0; at < 10; at++) {
      await ask(bea, { ...wrong, reference: `P-${at}` }, `198.51.100.${at}`)
    }
    await expect(ask(bea, {}, '198.51.100.99')).rejects.toMatchObject({
      ...limited,
      figures: { used: 10, limit: 10 }
    })
    // others in the same networks
    await expect(ask(eve, {}, '198.51.100.1')).resolves.toBeDefined()
    await expect(stranger([asked()], '198.51.100.1')).resolves.toBeDefined()

    app.wait(61)
    for (let at = 0; at < 20; at++) await miss({}, `192.0.2.${at}`)
    await expect(ask(bea, {}, '203.0.113.9')).rejects.toMatchObject({
      ...limited,
      figures: { used: 20, limit: 20 }
    })
    const { items } = await ask(eve, {}, '192.0.2.1')
    expect(items[0]?.verdict).toBe('known_to_register')
  })

  test('are not told apart from hits by a refusal', async () => {
    for (let at = 0; at < 10; at++) await miss({ reference: `R-${at}` })
    const refusals = await Promise.all(
      [asked(), asked({ reference: 'D-9999' })].map(item =>
        stranger([item]).catch(({ code, status, figures: { used, limit: most } }) => [
          code,
          status,
          used,
          most
        ])
      )
    )
    expect(refusals[0]).toEqual(refusals[1])
  })

  test('leave neither references nor networks in the database', async () => {
    await miss()
    const { rows } = await app.owner.query('select * from lookup_miss')
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toMatch(/D-0001|192\.0\.2/i)
    expect(rows.every(({ counter }) => counter.length === 16)).toBe(true)
  })

  test('are at most ten a call', async () => {
    const items = Array.from({ length: 11 }, (_, at) => asked({ reference: `T-${at}` }))
    await expect(stranger(items)).rejects.toMatchObject({ code: 'too_many_items' })
  })
})

test('a row that cannot be opened leaves its register without an answer, and no other', async () => {
  const digest = randomBytes(32).toString('hex')
  const rows = [[digest, 'Damaged']]
  const broken = await makeRegister(app, company, { columns: fileColumns, rows, category: open })
  await app.owner.query(
    `update register_row set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)
     where source_id = $1`,
    [broken.id]
  )
  app.logged.length = 0
  const { items } = await stranger([{ sha256: digest }, { sha256: listed }])
  expect(items.map(({ verdict }) => verdict)).toEqual(['indeterminate', 'known_to_register'])
  expect(items[0]?.sources).toContainEqual({ id: broken.id, result: 'unreachable' })
  expect(items[0]?.sources).toContainEqual({ id: files.id, result: 'not_found' })
  const place = { company_id: company, source_id: broken.id, segment: 1 }
  const errors = app.logged.filter(({ level }) => level === 'error')
  expect(errors.map(({ facts }) => facts)).toEqual([place])
  const bea = await app.signUp()
  await bea.call(verify, { items: [{ sha256: digest }] })
  const [request] = await bea.call(listRequests, {})
  expect(request?.items).toMatchObject({ asked: 1, indeterminate: 1 })
  await app.owner.query('delete from category_data_source where source_id = $1', [broken.id])
})
