import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { checkConsistency, checkStoredBytes } from '../../bench/soak/consistency.ts'
import { startDepositors } from '../../bench/soak/depositors.ts'
import { connectionTo } from '../../src/server/db/postgres.ts'
import { createRandom } from '../helpers/random.ts'
import { makeServiceProcess, type ServiceProcess } from '../helpers/service.ts'
import { runCount, seed, testTimeout } from '../helpers/soak.ts'

/** Of three faults each. */
const rounds = runCount(1, 67)
const pauseSeconds = runCount(3, 10)

// security.md C-05
test(
  `loses and doubles nothing when its database stops, loses a backend and stalls (SEED=${seed})`,
  async () => {
    const random = createRandom(seed)
    await using service = await makeServiceProcess({ DEMO: 'false' })
    await service.start()
    const crowd = await startDepositors({
      port: service.port,
      hosts: Array.from({ length: 8 }, () => 'localhost'),
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
    await crowd.finish()
    const { figures, faults } = await checkConsistency(service, crowd.remembered)
    expect([...faults, ...(await checkStoredBytes(service, crowd.remembered))]).toEqual([])
    const acknowledged = crowd.remembered.filter(({ end }) => end === 'acknowledged').length
    expect(figures).toMatchObject({ deposits: acknowledged, leaves: acknowledged })
    expect(acknowledged).toBeGreaterThan(8)
    expect(await service.stop()).toBe(0)
  },
  testTimeout(300_000)
)

async function isBack(service: ServiceProcess): Promise<void> {
  await insist(async () => {
    const client = await connect(service)
    await client.query('select 1')
    await client.end()
  })
}

/** A backend that serves a request of the service. */
async function backendOf(service: ServiceProcess): Promise<number> {
  return insist(async () => {
    const client = await connect(service)
    const { rows } = await client.query(
      `select pid from pg_stat_activity
        where usename = 'vidimus_app' and backend_type = 'client backend' order by query_start desc limit 1`
    )
    await client.end()
    if (!rows[0]) throw new Error('the service has no connection')
    return rows[0].pid
  })
}

/** Stops every process of the server for some seconds, as a disk that hangs would. */
async function pause(service: ServiceProcess): Promise<void> {
  const pids = await insist(async () => {
    const client = await connect(service)
    const { rows } = await client.query(
      'select pid from pg_stat_activity where pid <> pg_backend_pid()'
    )
    await client.end()
    return rows.map(row => Number(row.pid))
  })
  const file = readFileSync(join(service.dataDir, 'pg/postmaster.pid'), 'utf8')
  const all = [Number(file.split('\n', 1)[0]), ...pids]
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

async function connect(service: ServiceProcess): Promise<pg.Client> {
  const client = new pg.Client(connectionTo(await service.socketDir(), 'vidimus', 'postgres'))
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries > 300) throw error
      await sleep(100)
    }
  }
}
