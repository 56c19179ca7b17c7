import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { leafHash } from '../../../src/core/evidence/deposit-leaf.ts'
import { parseLogPolicy } from '../../../src/core/evidence/log-policy.ts'
import { verifyInclusion } from '../../../src/core/evidence/merkle-proofs.ts'
import { inclusionSteps } from '../../../src/core/evidence/tiles.ts'
import { verify } from '../../../src/core/evidence/verification.ts'
import type { CompanyId, Deps } from '../../../src/server/domain/deps.ts'
import { createCompanySecretKeyReader } from '../../../src/server/domain/evidence/company-keys.ts'
import { monitorNextLog } from '../../../src/server/domain/evidence/log-monitor.ts'
import { listLogsOf, logIdOf, tileReaderOf } from '../../../src/server/domain/evidence/logs.ts'
import { createReceipt } from '../../../src/server/domain/evidence/receipts.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { type MadeDeposit, makeDeposits } from '../../helpers/evidence/many-deposits.ts'
import { publishAll, readPublished, rootOfLeaves } from '../../helpers/evidence/published-log.ts'
import { makeDatabaseOfReleaseBefore } from '../../helpers/evidence/release-before-logs.ts'
import { isSoak, testTimeout } from '../../helpers/soak.ts'

let app: TestApp
beforeEach(async () => {
  app = await makeApp()
})
afterEach(() => app[Symbol.asyncDispose]())

test(
  'a database of the release before gets a log with all its deposits, and receipts for them',
  async () => {
    const ada = await app.signUp('acme.localhost')
    const bob = await app.signUp('beta.localhost')
    const ofAda = await makeDeposits(app.deps, ada, 10_000)
    const ofBob = await makeDeposits(app.deps, bob, 60, 7)
    const kept = Buffer.from('a file that was kept')
    const { deposit_id } = await app.deposit(bob, kept)
    const gamma = await app.addCompany('Gamma', 'gamma.localhost')
    await using before = await makeDatabaseOfReleaseBefore(app)
    const ordered = await before.owner.query<{ record_id: string; company_id: CompanyId }>(
      'select company_id, record_id from log_leaf order by seq'
    )
    const { rows: gaps } = await before.owner.query(
      'select count(*)::int, max(seq)::int from log_leaf where company_id = $1',
      [ada.company]
    )
    expect(gaps[0].max).toBeGreaterThan(2 * gaps[0].count)
    await before.migrate()

    const db = await before.open()
    const deps = { ...app.deps, db, companyKeys: createCompanySecretKeyReader({ ...app.deps, db }) }
    for (const company of [ada.company, bob.company, gamma]) {
      await publishAll(deps, company)
      const ids = ordered.rows.filter(row => row.company_id === company).map(row => row.record_id)
      await expectWholeLog(deps, company, ids)
    }
    await expectReceipts(deps, ada, sampleOf(ofAda))
    const file = { record_id: deposit_id ?? '', original: sha256(kept) }
    await expectReceipts(deps, bob, [...sampleOf(ofBob), file])

    // and the log goes on behind them
    const [next] = await makeDeposits(deps, ada, 1)
    await publishAll(deps, ada.company)
    await expectReceipts(deps, ada, next ? [next] : [])
    const { leaves } = await publishedOf(deps, ada.company)
    expect(JSON.parse(leaves[10_001] ?? '').id).toBe(next?.record_id)
  },
  testTimeout(120_000)
)

test('processes of the release before are refused with a sentence', async () => {
  await makeDeposits(app.deps, await app.signUp('acme.localhost'), 2)
  await using before = await makeDatabaseOfReleaseBefore(app)
  await before.migrateAsBefore()
  const append = () =>
    before.owner.query(
      `insert into log_leaf (company_id, seq, record_id, leaf, hash)
       values ($1, 1000000, 'late', '{}', '\\x00')`,
      [app.companies['acme.localhost']]
    )
  await append()
  await before.owner.query(`delete from log_leaf where record_id = 'late'`)
  await before.migrate()
  await expect(before.migrateAsBefore()).rejects.toThrow(
    'The database has migration 0069-add-logs.sql, which this version does not know: start a version that does.'
  )
  // nor does one that still runs write a gap
  await expect(append()).rejects.toThrow('column "seq"')
})

async function expectWholeLog(deps: Deps, company: CompanyId, ids: string[]): Promise<void> {
  const { leaves, checkpoint } = await publishedOf(deps, company)
  expect(leaves).toHaveLength(ids.length + 1)
  expect(JSON.parse(leaves[0] ?? '').type).toBe('policy')
  expect(leaves.slice(1).map(leaf => JSON.parse(leaf).id)).toEqual(ids)
  const read = tileReaderOf(deps.logFiles, logIdOf(checkpoint.origin))
  const { size, root } = checkpoint
  expect(Buffer.from(root)).toEqual(rootOfLeaves(leaves))
  for (const [index, leaf] of sampleOf([...leaves.entries()])) {
    const steps = await inclusionSteps(index, Number(size), read)
    const proof = { index: BigInt(index), size, root, steps, leafHash: leafHash(leaf) }
    if (!verifyInclusion(proof)) throw new Error(`leaf ${index} of ${size} is not proved`)
  }
  await monitorNextLog(deps, company)
  expect(await listLogsOf(deps, company)).toMatchObject([
    { state: 'running', fault: null, leaves: leaves.length, published: leaves.length }
  ])
}

async function expectReceipts(
  deps: Deps,
  { id: user_id, company: company_id }: TestPerson,
  deposits: readonly MadeDeposit[]
): Promise<void> {
  const { leaves } = await publishedOf(deps, company_id)
  const policy = parseLogPolicy(`log ${JSON.parse(leaves[0] ?? '').log}\nquorum none\n`)
  for (const { record_id, original } of deposits) {
    const input = { company_id, user_id, id: record_id, format: 'json' as const }
    const { text } = await createReceipt(deps, input, run => run())
    expect(text.length).toBeLessThan(5000)
    const digest = `sha256:${original.toString('hex')}`
    const { outcome } = verify(
      { receipt: Buffer.from(text), digest },
      { policies: [policy] },
      deps.clock()
    )
    expect(outcome).toEqual({ verdict: 'authentic' })
  }
}

async function publishedOf(deps: Deps, company: CompanyId) {
  const logs = await listLogsOf(deps, company)
  return readPublished(deps.logFiles, logs.at(-1)?.origin ?? '')
}

/** Both ends, those around a tile, and some between. The soak takes all. */
function sampleOf<Item>(items: readonly Item[]): Item[] {
  if (isSoak) return [...items]
  const ends = [0, 254, 255, 256, items.length - 1]
  return items.filter((_, at) => at % 199 === 0 || ends.includes(at))
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
