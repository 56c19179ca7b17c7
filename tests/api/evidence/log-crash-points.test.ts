import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CompanyId, LogFiles } from '../../../src/server/domain/deps.ts'
import { monitorNextLog } from '../../../src/server/domain/evidence/log-monitor.ts'
import { publishLog } from '../../../src/server/domain/evidence/log-publishing.ts'
import { listLogsOf } from '../../../src/server/domain/evidence/logs.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { makeDeposits } from '../../helpers/evidence/many-deposits.ts'
import { publishAll, readPublished, rootOfLeaves } from '../../helpers/evidence/published-log.ts'

// security.md C-11

type Moment = 'before' | 'after'

let app: TestApp
beforeEach(async () => {
  app = await makeApp()
})
afterEach(() => app[Symbol.asyncDispose]())

test.each<Moment>(['before', 'after'])(
  'a first publication that ends %s any of its writes is taken up',
  async moment => {
    const companies = [1, 2, 3, 4].map(n => app.addCompany(`New ${n}`, `new-${n}.localhost`))
    const writes = await endAtEachWrite(moment, async write => {
      const company = await companies[write - 1]
      if (!company) throw new Error(`there is no company for write ${write}`)
      return company
    })
    // entries, a tile and the checkpoint of the policy
    expect(writes).toBe(3)
  }
)

test.each<Moment>(['before', 'after'])(
  'a publication that ends %s any of its writes is taken up',
  async moment => {
    const ada = await app.signUp()
    await publishAll(app.deps, ada.company)
    const writes = await endAtEachWrite(moment, async () => {
      await makeDeposits(app.deps, ada, 300)
      return ada.company
    })
    // two bundles and two tiles at least, one above them, and the checkpoint
    expect(writes).toBeGreaterThanOrEqual(6)
    const next = await makeDeposits(app.deps, ada, 2)
    await publishAll(app.deps, ada.company)
    const { leaves } = await publishedOf(ada.company)
    const ids = leaves.slice(-2).map(leaf => JSON.parse(leaf).id)
    expect(ids).toEqual(next.map(({ record_id }) => record_id))
  }
)

/**
 * Publishes what `prepare` has made, ends at one write more each time, and publishes again. Returns
 * how many writes there are.
 */
async function endAtEachWrite(
  moment: Moment,
  prepare: (write: number) => Promise<CompanyId>
): Promise<number> {
  for (let write = 1; ; write++) {
    const company = await prepare(write)
    const signed: string[] = []
    const ending = recordingFiles(signed, { write, moment })
    const hasEnded = await publishLog({ ...app.deps, logFiles: ending }, company).then(
      () => false,
      (error: Error) => error.message === 'ended here' || Promise.reject(error)
    )
    const before = [...signed]
    await publishAll({ ...app.deps, logFiles: recordingFiles(signed) }, company)
    // a checkpoint that was signed and not committed is signed again, with the same bytes
    if (hasEnded) expect(signed.slice(before.length)).toEqual(expect.arrayContaining(before))
    const sizes = new Set(signed.map(note => note.split('\n')[1]))
    expect(new Set(signed).size).toBe(sizes.size)
    await expectSoundLog(company)
    if (!hasEnded) return write - 1
  }
}

async function expectSoundLog(company: CompanyId): Promise<void> {
  const { leaves, checkpoint } = await publishedOf(company)
  expect(Buffer.from(checkpoint.root)).toEqual(rootOfLeaves(leaves))
  const { rows } = await app.owner.query(
    'select leaf from log_leaf where company_id = $1 order by idx',
    [company]
  )
  expect(leaves).toEqual(rows.map(({ leaf }) => leaf))
  await app.owner.query('update log_state set monitored_at = null where company_id = $1', [company])
  expect(await monitorNextLog(app.deps, company)).toBe(true)
  expect(await listLogsOf(app.deps, company)).toMatchObject([
    { state: 'running', fault: null, published: leaves.length }
  ])
}

async function publishedOf(company: CompanyId) {
  const [log] = await listLogsOf(app.deps, company)
  return readPublished(app.deps.logFiles, log?.origin ?? '')
}

/** Keeps the notes that are written. Throws before or after a write, counted from 1. */
function recordingFiles(signed: string[], end?: { write: number; moment: Moment }): LogFiles {
  const files = app.deps.logFiles
  let writes = 0
  async function write(run: () => Promise<void>): Promise<void> {
    const isLast = ++writes === end?.write
    if (isLast && end.moment === 'before') throw new Error('ended here')
    await run()
    if (isLast) throw new Error('ended here')
  }
  return {
    ...files,
    writeTile: (...given) => write(() => files.writeTile(...given)),
    writeEntries: (...given) => write(() => files.writeEntries(...given)),
    writeCheckpoint(log, note, before) {
      signed.push(note)
      return write(() => files.writeCheckpoint(log, note, before))
    }
  }
}
