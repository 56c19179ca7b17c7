import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  checkPublishedLogs,
  checkReceipts,
  watchCheckpoints
} from '../../../bench/soak/published-logs.ts'
import { makeApp, type TestPerson } from '../../helpers/app.ts'
import { makeDeposits } from '../../helpers/evidence/many-deposits.ts'
import { publishAll } from '../../helpers/evidence/published-log.ts'
import { startPublishingProcess } from '../../helpers/evidence/publishing-process.ts'
import { createRandom } from '../../helpers/random.ts'
import { runCount, seed, testTimeout } from '../../helpers/soak.ts'

// security.md C-11

const kills = runCount(40, 200)

test(
  `a log has one history when two processes publish it and are killed ${kills} times (SEED=${seed})`,
  async () => {
    const random = createRandom(seed)
    await using app = await makeApp()
    const people = [await app.signUp('acme.localhost'), await app.signUp('beta.localhost')]
    const watch = watchCheckpoints(join(app.folder, 'log'))
    const load = depositUntilStopped(people)
    const start = () => startPublishingProcess(app)
    const running = [await start(), await start()]
    for (const each of running) each.publish()
    let prepared = start()
    for (let kill = 1; kill <= kills; kill++) {
      const next = await prepared
      prepared = start()
      await sleep(random.integer(0, 100))
      const [victim] = running.splice(random.integer(0, 1), 1, next)
      expect(await victim?.kill()).toBe('SIGKILL')
      next.publish()
    }
    for (const each of [...running, await prepared]) await each.kill()
    await load.stop()

    const seen = await watch.end()
    for (const { company } of people) await publishAll(app.deps, company)
    const query = async (text: string, values: unknown[] = []) =>
      (await app.owner.query(text, values)).rows
    const { faults, checkpoints, unrecorded } = await checkPublishedLogs(app.deps, query, seen)
    expect(faults).toEqual([])
    expect(unrecorded).toBe(0)
    expect(checkpoints).toBeGreaterThan(kills)
    const { faults: unproved } = await checkReceipts(app.deps, query, runCount(50, 500))
    expect(unproved).toEqual([])
    const [{ leaves }] = await query(
      `select count(*)::int as leaves from log_leaf where leaf not like '%"type":"policy"%'`
    )
    expect(leaves).toBe(load.made())

    function depositUntilStopped(depositors: TestPerson[]) {
      const made: unknown[] = []
      let isOver = false
      const mine = random.fork()
      const all = depositors.map(async person => {
        while (!isOver) {
          made.push(...(await makeDeposits(app.deps, person, mine.integer(1, 8))))
          await sleep(mine.integer(20, 80))
        }
      })
      return {
        made: () => made.length,
        async stop() {
          isOver = true
          await Promise.all(all)
        }
      }
    }
  },
  testTimeout(300_000)
)
