import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDeposit } from '../../src/contract/deposits.ts'
import { type Client, signUpAt, uploadOf } from '../../tests/helpers/client.ts'
import { createRandom, type Random } from '../../tests/helpers/random.ts'
import { retryFor } from '../../tests/helpers/retry-for.ts'
import { makeServiceProcess, type ServiceProcess } from '../../tests/helpers/service.ts'
import { killAtRandom } from './crash.ts'
import { type RememberedDocument, startDepositors } from './depositors.ts'
import { checkAndStop, deleteUnreferencedFiles } from './disk-faults.ts'

const host = 'localhost'
const stuckCount = 8
const patienceMs = 120_000
const root = join(import.meta.dirname, '../..')

/**
 * C-01 with deposits that cannot be recorded, because their category has an invalid name, under
 * random kills. They must be held and reported, keep their bytes, delay no others, and be recorded
 * when the name is valid again.
 */
export async function testHeldDeposits(options: {
  seed: number
  kills: number
  onKill?: (text: string) => void
}) {
  const { seed, kills, onKill = () => undefined } = options
  const random = createRandom(seed)
  await using service = await makeServiceProcess({ DEMO: 'false' })
  await service.start()
  const crowd = await startDepositors({
    port: service.port,
    hosts: Array.from({ length: 16 }, () => host),
    random: random.fork(),
    patienceSeconds: 300
  })
  const ada = await signUpAt(service.port, host)
  const category = randomUUID()
  await addCategory(service, category)
  const begun = []
  for (let n = 0; n < stuckCount; n++) begun.push(await begin(ada, category, random))
  await nameCategory(service, category, 'a\nname')
  for (const { upload, bytes } of begun) {
    await retryFor(1, () => ada.tus('PATCH', upload, { offset: 0, body: bytes }))
  }
  const stuck = begun.map(({ document }) => document)

  const { faults } = await killAtRandom([service], { random, kills, onKill })
  await crowd.finish()
  const waited = await untilHeld(service)
  if (waited.held !== stuckCount) faults.push(`${waited.held} of ${stuckCount} deposits are held`)
  const readiness = await service.readiness()
  if (readiness['status'] !== 200 || readiness['held'] !== stuckCount) {
    faults.push(`/readyz says ${JSON.stringify(readiness)}`)
  }
  const listed = vidimus(service, 'deposit', 'held').held.map(
    (each: { request_id: string }) => each.request_id
  )
  const expected = stuck.map(each => each.request)
  if (listed.toSorted().join() !== expected.toSorted().join()) {
    faults.push(`vidimus deposit held lists ${listed.length} deposits`)
  }
  faults.push(...(await deleteUnreferencedFiles(service)))

  await nameCategory(service, category, 'Contracts')
  const { retried } = vidimus(service, 'deposit', 'retry')
  if (retried.length !== stuckCount) faults.push(`${retried.length} deposits were tried again`)
  const remembered = [...crowd.remembered, ...stuck]
  const { figures, faults: found } = await checkAndStop(service, remembered)
  faults.push(...found)
  const acknowledged = crowd.remembered.filter(({ end }) => end === 'acknowledged').length
  return { seed, kills, acknowledged, held: stuckCount, figures, faults }
}

async function begin(ada: Client, category: string, random: Random) {
  const bytes = random.bytes(random.integer(1, 60_000))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const { request, upload } = uploadOf(
    await ada.call(
      createDeposit,
      {
        ...{ name: 'stuck.pdf', size: bytes.length, media_type: 'application/pdf' },
        ...{ original: sha256, stored: sha256, category, again: true }
      },
      { idempotencyKey: randomUUID() }
    )
  )
  const document: RememberedDocument = {
    ...{ host, request: request.id, upload: upload.slice('/uploads/'.length) },
    ...{ sha256, size: bytes.length, end: 'acknowledged' }
  }
  return { upload, bytes, document }
}

// changes the database meanwhile, so that the service pauses for at most ten seconds between its
// attempts
async function untilHeld(service: ServiceProcess): Promise<{ held: number }> {
  for (const until = Date.now() + patienceMs; ; await sleep(500)) {
    const [row] = await service.query(
      `with hurried as (
         update upload set leased_until = now()
         where state = 'received' and failure is not null and leased_until > now() + interval '10 s'
       )
       select count(*)::int as held from upload where state = 'held'`
    )
    const held = Number(row?.['held'])
    if (held >= stuckCount || Date.now() > until) return { held }
  }
}

async function addCategory(service: ServiceProcess, id: string): Promise<void> {
  await service.query('alter table category drop constraint category_names')
  await service.query(
    `insert into category (company_id, id, names, visibility, created_at)
     select company_id, $1, '{"en": "Contracts", "fr": "Contrats"}', visibility, now()
     from category order by created_at limit 1`,
    [id]
  )
  await service.query(
    `insert into group_category
     select g.company_id, g.id, $1 from "group" g join category c on c.company_id = g.company_id
     where c.id = $1 and g.is_default`,
    [id]
  )
}

async function nameCategory(service: ServiceProcess, id: string, en: string): Promise<void> {
  const names = JSON.stringify({ en, fr: 'Contrats' })
  await service.query('update category set names = $2 where id = $1', [id, names])
}

/** Runs a command of operators on the data of a service. Returns the facts that it prints. */
export function vidimus({ dataDir, folder }: ServiceProcess, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['bin/vidimus.ts', ...words, '--json'],
    {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, DATA_DIR: dataDir }
    }
  )
  if (status !== 0) throw new Error(`vidimus ${words.join(' ')} failed: ${stderr}`)
  return JSON.parse(stdout)
}
