import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { checkConsistency, checkStoredBytes } from '../../bench/soak/consistency.ts'
import { startDepositors } from '../../bench/soak/depositors.ts'
import { createRandom } from '../helpers/random.ts'
import { retryFor } from '../helpers/retry-for.ts'
import { makeServiceProcess, type ServiceProcess } from '../helpers/service.ts'
import { runCount, seed, testTimeout } from '../helpers/soak.ts'

/** The number of rounds. Each has three faults: a crash, a lost backend and a pause. */
const rounds = runCount(1, 67)
const pauseSeconds = runCount(3, 10)
const depositors = runCount(3, 8)

// security.md C-05
test(
  `loses and doubles nothing when its database stops, loses a backend and stalls (SEED=${seed})`,
  async () => {
    const random = createRandom(seed)
    await using service = await makeServiceProcess({ DEMO: 'false' })
    await service.start()
    const crowd = await startDepositors({
      port: service.port,
      hosts: Array.from({ length: depositors }, () => 'localhost'),
      random: random.fork(),
      patienceSeconds: 90
    })
    for (let round = 0; round < rounds; round += 1) {
      await sleep(random.integer(200, 1500))
      await service.killDatabase('SIGQUIT') // immediate shutdown: what a crash leaves
      await isBack(service)
      await sleep(random.integer(200, 1500))
      process.kill(await backendOf(service), 'SIGKILL')
      await isBack(service)
      await sleep(random.integer(200, 1500))
      await pause(service)
      await isBack(service)
    }
    const countAcknowledged = () =>
      crowd.remembered.filter(({ end }) => end === 'acknowledged').length
    // on a busy machine, few deposits fit between the faults
    await expect.poll(countAcknowledged, { timeout: 120_000 }).toBeGreaterThan(8)
    await crowd.finish()
    const { figures, faults } = await checkConsistency(service, crowd.remembered)
    expect([...faults, ...(await checkStoredBytes(service, crowd.remembered))]).toEqual([])
    const acknowledged = countAcknowledged()
    expect(figures).toMatchObject({ deposits: acknowledged, leaves: acknowledged })
    expect(await service.stop()).toBe(0)
  },
  testTimeout(300_000)
)

async function isBack(service: ServiceProcess): Promise<void> {
  await retryFor(1, () => service.query('select 1'))
}

/** Returns the process id of a database connection that serves requests of the service. */
async function backendOf(service: ServiceProcess): Promise<number> {
  return retryFor(1, async () => {
    const [found] = await service.query<{ pid: number }>(
      `select pid from pg_stat_activity
        where usename = 'vidimus_app' and backend_type = 'client backend' order by query_start desc limit 1`
    )
    if (!found) throw new Error('the service has no connection')
    return found.pid
  })
}

/** Stops every process of the server for some seconds, as a disk that hangs would. */
async function pause(service: ServiceProcess): Promise<void> {
  const backends = await retryFor(1, () =>
    service.query<{ pid: number }>('select pid from pg_stat_activity where pid <> pg_backend_pid()')
  )
  const file = readFileSync(join(service.dataDir, 'pg/postmaster.pid'), 'utf8')
  const all = [Number(file.split('\n', 1)[0]), ...backends.map(({ pid }) => pid)]
  const signal = (name: NodeJS.Signals) => {
    for (const pid of all) {
      try {
        process.kill(pid, name)
      } catch {
        // it has ended since
      }
    }
  }
  signal('SIGSTOP')
  await sleep(pauseSeconds * 1000)
  signal('SIGCONT')
}
