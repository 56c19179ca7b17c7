import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getDeposit } from '../../../src/contract/deposits.ts'
import { getDomainConfig } from '../../../src/contract/domains.ts'
import { listRequests } from '../../../src/contract/requests.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { inCompany, type toCompanyId } from '../../../src/server/db/scope.ts'
import { removeDemoCompany } from '../../../src/server/domain/companies/companies.ts'
import {
  createEmptyDemo,
  demoHost,
  fillDemo,
  findDemo
} from '../../../src/server/domain/demo/demo.ts'
import { demoHistory, sha256Hex } from '../../../src/server/domain/demo/demo-documents.ts'
import { endNextIdleUpload } from '../../../src/server/domain/deposits/idle-uploads.ts'
import { createDepositFromNextUpload } from '../../../src/server/domain/deposits/upload-settlement.ts'
import { checkFilesJob, endIdleUploadsJob } from '../../../src/server/jobs/jobs.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { tablesOf } from '../../helpers/matrix.ts'

let app: TestApp
let demo: { company_id: ReturnType<typeof toCompanyId>; user_id: string }
beforeAll(async () => {
  app = await makeApp()
  await createEmptyDemo(app.deps)
  expect(await fillDemo(app.deps, () => false)).toBe(true)
  const found = await findDemo(app.deps)
  if (found?.state !== 'ready') throw new Error('the demonstration is not ready')
  const { rows } = await app.owner.query('select id from "user" where company_id = $1', [
    found.company_id
  ])
  demo = { company_id: found.company_id, user_id: rows[0].id }
})
afterAll(() => app[Symbol.asyncDispose]())

test('shows forty documents in every state that lasts, of many kinds, over months', async () => {
  const deposits = (await requests()).filter(each => each.kind === 'deposit')
  expect(deposits).toHaveLength(40)
  const states = Map.groupBy(deposits, each => each.state)
  expect(Object.fromEntries([...states].map(([state, list]) => [state, list.length]))).toEqual({
    done: 32,
    failed: 2,
    cancelled: 2,
    lapsed: 2,
    uploading: 2
  })
  expect(states.get('failed')?.map(each => each.code)).toEqual([
    'transfer_corrupt',
    'transfer_corrupt'
  ])
  expect(new Set(deposits.map(each => each.facts['media_type'])).size).toBeGreaterThanOrEqual(11)
  const sizes = deposits.map(each => Number(each.facts['size']))
  expect(Math.max(...sizes) / Math.min(...sizes)).toBeGreaterThan(1000)
  const days = deposits.map(each => each.created_at.getTime() / 86_400_000)
  expect(Math.max(...days) - Math.min(...days)).toBeGreaterThan(150)
  expect(deposits.every(each => each.created_at.getTime() < Date.now())).toBe(true)
})

test('shows checks, a batch among them', async () => {
  const checks = (await requests()).filter(each => each.kind === 'verify')
  const items = checks.map(each => each.facts['items'])
  const answers = { authentic: 9, known_to_register: 0, not_found: 3, indeterminate: 0 }
  expect(items).toContainEqual({ asked: 12, ...answers })
  expect(checks.map(each => each.facts['match'])).toContain('stored_copy')
  expect(new Set(checks.map(each => each.facts['verdict']))).toEqual(
    new Set(['authentic', 'not_found', undefined])
  )
})

test('records at the time of each document, in the order of the record', async () => {
  const { rows } = await app.owner.query(
    `select d.recorded_at, r.created_at from deposit d
       join log_leaf l on l.company_id = d.company_id and l.leaf_id = d.id
       join request r on r.company_id = d.company_id and r.id = d.request_id
      where d.company_id = $1 order by l.idx`,
    [demo.company_id]
  )
  expect(rows).toHaveLength(32)
  for (const [at, row] of rows.entries()) {
    expect(Math.abs(row.recorded_at - row.created_at)).toBeLessThan(1000)
    if (at > 0) expect(row.recorded_at >= rows[at - 1].recorded_at).toBe(true)
  }
})

test('says on its pages that it is one, and the other companies’ do not', async () => {
  const config = await app.call(demoHost, getDomainConfig, { domain: demoHost })
  expect(config.demo).toBe(true)
  const other = await app.call('acme.localhost', getDomainConfig, { domain: 'acme.localhost' })
  expect(other.demo).toBe(false)
})

test('lets anyone verify its documents', async () => {
  const document = demoHistory().find(act => act.kind === 'deposit' && act.outcome === 'done')
  if (document?.kind !== 'deposit') throw new Error('no document')
  const items = [{ sha256: sha256Hex(document.makeBytes()) }]
  const answer = await app.call(demoHost, verify, { items })
  expect(answer.items[0]).toMatchObject({ verdict: 'authentic' })
})

test('keeps its open uploads open', async () => {
  expect(await endNextIdleUpload(app.deps, demo.company_id)).toBe(false)
  app.wait(86_400 * 400)
  expect(await endNextIdleUpload(app.deps, demo.company_id)).toBe(false)
  app.wait(-86_400 * 400)
})

test('adds nothing when it is complete, and when two fill it at the same time', async () => {
  const before = (await requests()).length
  await app.owner.query(`update company set demo = 'seeding' where id = $1`, [demo.company_id])
  const answers = await Promise.all([
    fillDemo(app.deps, () => false),
    fillDemo(app.deps, () => false)
  ])
  expect(answers).toContain(true)
  expect(await requests()).toHaveLength(before)
  expect((await findDemo(app.deps))?.state).toBe('ready')
})

test('goes on where a stop and two kills left it, and leaves nothing to other jobs', async () => {
  await using other = await makeApp()
  await createEmptyDemo(other.deps)
  let left = 6
  expect(await fillDemo(other.deps, () => left-- === 0)).toBe(false)
  const found = await findDemo(other.deps)
  if (found?.state !== 'seeding') throw new Error('the demonstration is not being made')
  const { blobs } = other.deps
  const { stage, keep } = blobs
  for (const step of ['before the bytes', 'between the bytes and the record'] as const) {
    let steps = 0
    const dieOnce = async () => {
      if (steps++ === 4) throw new Error('killed')
    }
    if (step === 'before the bytes') blobs.stage = (...all) => dieOnce().then(() => stage(...all))
    else blobs.keep = (...all) => dieOnce().then(() => keep(...all))
    await expect(
      fillDemo(other.deps, () => false),
      step
    ).rejects.toThrow('killed')
    Object.assign(blobs, { stage, keep })
    other.wait(60)
    // as other jobs do at the next start
    expect(await createDepositFromNextUpload(other.deps, found.company_id)).toBe(false)
    await endIdleUploadsJob(other.deps).run(() => false, true)
  }
  expect(await fillDemo(other.deps, () => false)).toBe(true)
  const { rows } = await other.owner.query(
    `select r.state, abs(extract(epoch from d.recorded_at - r.created_at))::int as late
       from request r left join deposit d on (d.company_id, d.request_id) = (r.company_id, r.id)
      where r.kind = 'deposit' order by r.created_at`
  )
  const outcomes = demoHistory().flatMap(act => (act.kind === 'deposit' ? [act.outcome] : []))
  expect(rows.map(row => row.state)).toEqual(outcomes)
  expect(rows.filter(row => row.late > 1)).toEqual([])
})

test('removes no company that is none', async () => {
  const acme = app.companies['acme.localhost']
  if (!acme) throw new Error('no company')
  expect(await removeDemoCompany(app.deps, acme)).toBe(false)
  await inCompany(app.deps.db, acme, async tx => {
    await expect(tx.deleteFrom('deposit').execute()).rejects.toMatchObject({ code: '42501' })
  }).catch(() => undefined)
  expect(
    await app.call('acme.localhost', getDomainConfig, { domain: 'acme.localhost' })
  ).toBeDefined()
})

test('makes no demonstration of a company that is none, nor the other way round', async () => {
  const acme = app.companies['acme.localhost']
  if (!acme) throw new Error('no company')
  for (const [company, mark] of [
    [acme, 'seeding'],
    [acme, 'ready'],
    [demo.company_id, null]
  ] as const) {
    const marked = inCompany(app.deps.db, company, tx =>
      tx.updateTable('company').set({ demo: mark }).where('id', '=', company).execute()
    )
    await expect(marked).rejects.toMatchObject({ code: '42501' })
  }
  expect(await removeDemoCompany(app.deps, acme)).toBe(false)
})

test('stops and leaves no file when it is removed while it is being made', async () => {
  await using other = await makeApp()
  await createEmptyDemo(other.deps)
  const found = await findDemo(other.deps)
  if (!found) throw new Error('no demonstration')
  let acts = 0
  const filled = await fillDemo(other.deps, () => {
    if (acts++ === 10) void removeDemoCompany(other.deps, found.company_id)
    return false
  })
  expect(filled).toBe(true)
  expect(await findDemo(other.deps)).toBeUndefined()
  expect(await filesOf(other, found.company_id)).toEqual([])
})

test('loses its files after a crash between its rows and its files, and what came in late', async () => {
  await using other = await makeApp()
  const acme = other.companies['acme.localhost']
  await createEmptyDemo(other.deps)
  const found = await findDemo(other.deps)
  if (!found || !acme) throw new Error('no demonstration')
  const ada = await other.signUp('acme.localhost')
  await other.deposit(ada, Buffer.from('of a company that stays'))
  const kept = await filesOf(other, acme)
  const late = () => other.deps.blobs.stage(found.company_id, 'A'.repeat(22), Buffer.from('late'))
  await late()
  const { removeCompany: removeFiles } = other.deps.blobs
  other.deps.blobs.removeCompany = () => Promise.reject(new Error('killed'))
  await expect(removeDemoCompany(other.deps, found.company_id)).rejects.toThrow('killed')
  other.deps.blobs.removeCompany = removeFiles
  expect(await filesOf(other, found.company_id)).not.toEqual([])

  const check = () => checkFilesJob(other.deps).run(() => false, true)
  await check()
  expect(await filesOf(other, found.company_id)).toEqual([])
  await late()
  other.wait(2 * 86_400)
  await check()
  expect(await filesOf(other, found.company_id)).toEqual([])
  expect(await other.deps.blobs.listRemovals()).toEqual([])
  expect(await filesOf(other, acme)).toEqual(kept)
})

test('keeps its files when its removal was noted and did not happen', async () => {
  await app.deps.blobs.noteRemoval(demo.company_id)
  const kept = await filesOf(app, demo.company_id)
  await checkFilesJob(app.deps).run(() => false, true)
  expect(kept.length).toBeGreaterThan(30)
  expect(await filesOf(app, demo.company_id)).toEqual(kept)
})

// last: it takes the demonstration away
test('leaves nothing behind in any table or folder', async () => {
  const stranger = await app.signUp(demoHost)
  const theirs = await app.deposit(stranger, Buffer.from('of a stranger'))
  await stranger.call(getDeposit, { id: theirs.deposit_id ?? '' })
  const witness = await app.signUp('acme.localhost')
  await app.deposit(witness, Buffer.from('of another company'))
  const before = await rowsOf(demo.company_id)
  for (const table of ['request', 'event', 'upload', 'deposit', 'log_leaf', 'lookup_tag']) {
    expect(before[table], table).toBeGreaterThan(0)
  }
  expect((await filesOf(app, demo.company_id)).length).toBeGreaterThan(30)

  expect(await removeDemoCompany(app.deps, demo.company_id)).toBe(true)

  expect(Object.values(await rowsOf(demo.company_id)).every(count => count === 0)).toBe(true)
  expect(await filesOf(app, demo.company_id)).toEqual([])
  const { rows } = await app.owner.query('select id from company where id = $1', [demo.company_id])
  expect(rows).toEqual([])
  await expect(stranger.call(listRequests, {})).rejects.toMatchObject({ code: 'unknown_host' })
  expect(await witness.call(listRequests, {})).toHaveLength(1)
  expect(await removeDemoCompany(app.deps, demo.company_id)).toBe(false)
})

interface Row {
  kind: string
  state: string
  code: string | null
  created_at: Date
  facts: Record<string, unknown>
}

async function requests(): Promise<Row[]> {
  const { rows } = await app.owner.query(
    'select kind, state, code, created_at, facts from request where user_id = $1 order by created_at',
    [demo.user_id]
  )
  return rows
}

async function rowsOf(company: string): Promise<Record<string, number>> {
  const { tenant } = await tablesOf(app.owner)
  const counts: Record<string, number> = {}
  for (const table of tenant) {
    const { rows } = await app.owner.query(
      `select count(*)::int as count from "${table}" where company_id = $1`,
      [company]
    )
    counts[table] = rows[0].count
  }
  return counts
}

async function filesOf({ folder }: TestApp, company: string): Promise<string[]> {
  const all = await readdir(join(folder, 'documents'), { recursive: true })
  return all.filter(path => /^(staging|blobs)/.test(path) && path.includes(company)).sort()
}
