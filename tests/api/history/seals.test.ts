import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { getDeposit } from '../../../src/contract/deposits.ts'
import { getRequest, listRequests, type ProcessedRequest } from '../../../src/contract/requests.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { inCompany } from '../../../src/server/db/scope.ts'
import { readSeals } from '../../../src/server/domain/evidence/seals.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { statementsOf } from '../../helpers/database.ts'
import { openStream } from '../../helpers/event-stream.ts'
import { setLogState } from '../../helpers/evidence/signed-sizes.ts'
import { countRowsRead } from '../../helpers/plans.ts'

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

test('a record is sealed from the first checkpoint on that covers it', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const [first, second, third] = await depositThree(app, ada)
  expect([first, second, third]).toMatchObject([
    { rung: 'recorded', leaf_index: 1 },
    { rung: 'recorded', leaf_index: 2 },
    { rung: 'recorded', leaf_index: 3 }
  ])
  const [early, late] = [daysAgo(2), daysAgo(1)]
  const checkpoints = [
    { size: 2, at: early },
    { size: 3, at: late }
  ]
  await setLogState(app, ada.company, { checkpoints })
  expect(await sealsOf(ada)).toEqual([
    { leaf_index: 3, rung: 'recorded' },
    { leaf_index: 2, rung: 'sealed', sealed: late },
    { leaf_index: 1, rung: 'sealed', sealed: early }
  ])
  expect(await ada.call(getRequest, { id: first.id })).toMatchObject({
    rung: 'sealed',
    sealed: early
  })
  const deposit = await ada.call(getDeposit, { id: third.deposit_id ?? '' })
  expect(deposit).toMatchObject({ rung: 'recorded', leaf_index: 3 })
  expect(deposit).not.toHaveProperty('sealed')
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
  const whole = await ada.call(listRequests, { scope: 'company' })
  expect(whole.map(({ rung }) => rung)).toEqual(['recorded', 'sealed', 'sealed'])
})

test('says that sealing is paused while the log is frozen, and takes no seal back', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  await depositThree(app, ada)
  await setLogState(app, ada.company, { checkpoints: [{ size: 3, at: daysAgo(1) }] })
  for (const state of ['behind', 'forked', 'no_checkpoint', 'copied'] as const) {
    await setLogState(app, ada.company, { state })
    const rungs = (await sealsOf(ada)).map(({ rung }) => rung)
    expect(rungs).toEqual(['sealing_paused', 'sealed', 'sealed'])
  }
  const { request } = await app.reserve(ada, Buffer.from('open'))
  expect(request).not.toHaveProperty('rung')
  expect((await ada.call(listRequests, {}))[0]).not.toHaveProperty('rung')
})

test('reads each log by its own size', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const [first] = await depositThree(app, ada)
  await setLogState(app, ada.company, {
    state: 'retired',
    checkpoints: [{ size: 2, at: daysAgo(3) }]
  })
  await app.owner.query('update log_head set log_no = 1, leaf_seq = 0 where company_id = $1', [
    ada.company
  ])
  const later = await app.deposit(ada, randomBytes(50))
  expect(later.leaf_index).toBe(1)
  await setLogState(app, ada.company, { log: 1, checkpoints: [{ size: 2, at: daysAgo(1) }] })
  const rungs = (await sealsOf(ada)).map(({ rung }) => rung)
  // those that the retired log never signed stay as they are
  expect(rungs).toEqual(['sealed', 'recorded', 'recorded', 'sealed'])
  expect(await ada.call(getRequest, { id: first.id })).toMatchObject({ rung: 'sealed' })
})

test('tells no time when the first checkpoint may have been deleted', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  await depositThree(app, ada)
  await app.owner.query(`update deposit set recorded_at = now() - interval '200 days'`)
  const checkpoints = [
    { size: 2, at: daysAgo(199) },
    { size: 4, at: daysAgo(50) }
  ]
  await setLogState(app, ada.company, { checkpoints })
  // another one may have covered the last two between these
  expect(await sealsOf(ada)).toMatchObject([
    { rung: 'sealed' },
    { rung: 'sealed' },
    { rung: 'sealed' }
  ])
  expect((await sealsOf(ada)).filter(({ sealed }) => sealed !== undefined)).toEqual([])
  // none has been deleted after one that is younger
  await app.owner.query(
    `update log_checkpoint set published_at = now() - interval '89 days' where size = 2`
  )
  expect(await sealsOf(ada)).toMatchObject([
    { sealed: checkpoints[1]?.at },
    { sealed: checkpoints[1]?.at },
    {}
  ])
})

test('exports the seals for programs and for spreadsheets in both languages', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  await depositThree(app, ada)
  const at = '2026-05-03T12:02:07.000Z'
  await setLogState(app, ada.company, { state: 'behind', checkpoints: [{ size: 3, at }] })
  const columns = async (search: string, names: string[], separator: string) => {
    const [head = '', ...lines] = (await exported(app, ada, search)).split('\r\n')
    const places = names.map(name => head.split(separator).indexOf(name))
    const cells = (line: string) => line.replace(/"(.*?);(.*?)"/g, '$1|$2').split(separator)
    return lines.slice(0, 3).map(line => places.map(place => cells(line)[place]))
  }
  expect(await columns('', ['leaf_index', 'rung', 'sealed'], ',')).toEqual([
    ['3', 'sealing_paused', ''],
    ['2', 'sealed', at],
    ['1', 'sealed', at]
  ])
  const en = ['Place in the log', 'Seal', 'Sealed on (Europe/Paris)']
  const paris = '&format=spreadsheet&time_zone=Europe/Paris'
  expect((await columns(`?locale=en${paris}`, en, ',')).slice(0, 2)).toEqual([
    ['3', 'Recorded; sealing is paused', ''],
    ['2', 'Sealed', '2026-05-03 14:02:07']
  ])
  const fr = ['Place dans le journal', 'Sceau', 'Scellé le (Europe/Paris)']
  expect((await columns(`?locale=fr${paris}`, fr, ';')).slice(0, 2)).toEqual([
    ['3', 'Enregistré\u202f| scellement suspendu', ''],
    ['2', 'Scellé', '03/05/2026 14:02:07']
  ])
})

test('tells all streams of the company how far the log is signed', async () => {
  await using app = await makeApp()
  const port = await app.listen()
  const [ada, bob, other] = [
    await app.signUp(),
    await app.signUp(),
    await app.signUp('beta.localhost')
  ]
  const [early, unconcerned] = [await openStream(port, ada), await openStream(port, other)]
  await early.next()
  const done = await app.deposit(ada, randomBytes(50))
  const at = '2026-05-03T12:02:07.000Z'
  await setLogState(app, ada.company, { checkpoints: [{ size: 2, at }] })
  app.deps.signals.seals.send(ada.company)
  expect(await early.sealed(({ size }) => size === 2)).toEqual({ size: 2, at })
  expect(done.leaf_index).toBeLessThan(2)

  const late = await openStream(port, bob)
  await late.sealed(() => true)
  expect(late.seals).toEqual([{ size: 2, at }])
  // without a signal, for instance from a process that cannot send any
  await setLogState(app, ada.company, { state: 'forked' })
  for (const stream of [early, late]) {
    expect(await stream.sealed(({ paused }) => paused === true)).toEqual({
      size: 2,
      at,
      paused: true
    })
  }
  expect(early.seals.filter(({ size }) => size === 2)).toHaveLength(2)
  expect(unconcerned.seals.filter(({ size }) => size > 0)).toEqual([])
  for (const stream of [early, late, unconcerned]) stream.close()
})

test('a verification says of a match whether it is sealed, and its entry keeps only seals', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  await app.owner.query(`update category set visibility = 'public'`)
  const bytes = randomBytes(50)
  const { original: sha256 } = await depositOf(ada, await app.deposit(ada, bytes))
  const asked = async (caller?: TestPerson) => {
    const items = [{ sha256 }]
    const answer = caller
      ? await caller.call(verify, { items })
      : await app.call(ada.host, verify, { items })
    return answer.items[0]?.findings[0]
  }
  expect(await asked()).toMatchObject({ rung: 'recorded' })
  expect(await asked(ada)).toMatchObject({ rung: 'recorded' })
  expect((await ada.call(listRequests, { kind: 'verify' }))[0]).not.toHaveProperty('leaf_hash')
  await setLogState(app, ada.company, { checkpoints: [{ size: 2, at: daysAgo(1) }] })
  expect(Object.keys((await asked()) ?? {}).toSorted()).toEqual(['leaf_hash', 'match', 'recorded'])
  expect(await asked(ada)).not.toHaveProperty('rung')
  expect((await ada.call(listRequests, { kind: 'verify' }))[0]).toHaveProperty('leaf_hash')
})

test('reads the seals of a page by a few rows for each of its records, of its own company', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const [first] = await depositThree(app, ada)
  await app.owner.query(
    `insert into log_leaf (company_id, log_no, idx, leaf_id, leaf, hash)
     select company_id, log_no, n, 'other' || n, leaf, hash
       from log_leaf, generate_series(10, 5000) n where leaf_id = $1`,
    [first.deposit_id]
  )
  const at = daysAgo(1)
  const checkpoints = Array.from({ length: 2000 }, (_, n) => ({ size: n + 2, at }))
  await setLogState(app, ada.company, { checkpoints })
  await app.owner.query('analyze log_leaf, log_checkpoint, deposit')
  const [statement] = await statementsOf(app.deps.db, /from log_leaf/, () =>
    ada.call(listRequests, {})
  )
  if (!statement) throw new Error('no statement reads the seals')
  expect(await countRowsRead(app.deps.db, ada.company, statement)).toBeLessThanOrEqual(3 * 5)

  const beta = app.companies['beta.localhost']
  const ids = [first.deposit_id ?? '']
  expect(await inCompany(app.deps.db, beta, tx => readSeals(tx, ids))).toEqual(new Map())
})

async function depositThree(app: TestApp, person: TestPerson) {
  const [first, second, third] = [
    await app.deposit(person, randomBytes(50)),
    await app.deposit(person, randomBytes(50)),
    await app.deposit(person, randomBytes(50))
  ]
  return [first, second, third] as const
}

function depositOf(person: TestPerson, { deposit_id: id = '' }: ProcessedRequest) {
  return person.call(getDeposit, { id })
}

async function sealsOf(person: TestPerson) {
  const requests = await person.call(listRequests, { kind: 'deposit' })
  return requests.map(({ leaf_index, rung, sealed }) => ({
    leaf_index,
    rung,
    ...(sealed === undefined ? {} : { sealed })
  }))
}

async function exported(app: TestApp, { host, token }: TestPerson, search: string) {
  const headers = { authorization: `Bearer ${token}` }
  const request = new Request(`http://api.${host}/process/export${search}`, { headers })
  return (await app.fetch(request)).text()
}
