import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../src/contract/kit/errors.ts'
import { getRequest } from '../../src/contract/requests.ts'
import { type Client, signUpAt } from '../../tests/helpers/client.ts'
import { openStream } from '../../tests/helpers/event-stream.ts'
import { createRandom, type Random } from '../../tests/helpers/random.ts'
import { retryFor } from '../../tests/helpers/retry-for.ts'
import { makeServiceProcess, type ServiceProcess } from '../../tests/helpers/service.ts'
import { databaseProcesses } from '../processes.ts'
import { type RememberedDocument, startDepositors } from './depositors.ts'
import {
  checkAndStop,
  checkFilesAndStop,
  type DiskFault,
  deleteUnreferencedFiles,
  diskFault,
  injectFault,
  sendUnderFaults,
  singleThreadSettings,
  waitForFault
} from './disk-faults.ts'
import { type SystemCall, traceSystemCalls } from './strace.ts'

const host = 'localhost'

/**
 * C-03: bytes, file and folder entry must be flushed before the database commits, and its log
 * before a response or an event is sent.
 */
export async function checkFlushOrder(options: { seed: number; deposits: number }) {
  const random = createRandom(options.seed)
  await using service = await makeServiceProcess(singleThreadSettings)
  await service.start()
  const ada = await signUpAt(service.port, host)
  const faults: string[] = []
  for (let nr = 1; nr <= options.deposits; nr++) {
    const bytes = random.bytes(random.pick([1, 3000, 200_000]))
    const { request, upload } = await ada.reserve(bytes, randomUUID())
    const stream = await openStream(service.port, { host, token: ada.token() })
    await stream.next()
    const tracing = await traceSystemCalls(
      [service.pid(), ...databaseProcesses(service)],
      ['-e', 'trace=write,writev,pwrite64,pwritev,fsync,fdatasync,rename,sendto']
    )
    const half = bytes.length >> 1
    await ada.tus('PATCH', upload, { offset: 0, body: bytes.subarray(0, half) })
    await ada.tus('PATCH', upload, { offset: half, body: bytes.subarray(half) })
    for (;;) {
      const event = await stream.next()
      if (event === undefined) throw new Error('the stream ended')
      if (event.event === undefined && JSON.parse(event.data).state === 'done') break
    }
    stream.close()
    const calls = await tracing.end()
    faults.push(...orderFaultsOf(calls, upload.slice('/uploads/'.length), request.id))
  }
  return { seed: options.seed, deposits: options.deposits, faults }
}

// a sentence for each response or event that was never sent, or was sent before its data was on
// disk
function orderFaultsOf(calls: SystemCall[], upload: string, request: string): string[] {
  const staged = new RegExp(`/staging/[^/>"]+/${upload}`)
  const isWrite = ({ name }: SystemCall) =>
    ['write', 'writev', 'pwrite64', 'pwritev'].includes(name)
  const isOn = (pattern: RegExp) => (call: SystemCall) => pattern.test(call.text)
  const toDisk = (name: string, what: RegExp) => (call: SystemCall) =>
    call.name === name && what.test(call.text) && / = 0$/.test(call.text)
  const toSocket = (what: RegExp) => (call: SystemCall) =>
    isWrite(call) && /^\w+\(\d+<(socket|TCP)/.test(call.text) && what.test(call.text)
  const bytes = calls.findLast(call => isWrite(call) && isOn(staged)(call))
  if (!bytes) return ['no bytes were written']
  const confirmed = calls.findLast(toSocket(/"HTTP\/1.1 204/))
  const done = calls.find(call =>
    toSocket(new RegExp(`data: .*${request}.*\\\\"state\\\\":\\\\"done\\\\"`))(call)
  )
  const flushed: [string, (call: SystemCall) => boolean][] = [
    ['the database writes its log', call => isWrite(call) && /\/pg_wal\//.test(call.text)],
    ['the database flushes its log', toDisk('fdatasync', /\/pg_wal\//)]
  ]
  return [
    ...missingSteps(
      calls,
      bytes,
      [
        ['the file is flushed', toDisk('fsync', new RegExp(`${staged.source}>`))],
        ['its folder is flushed', toDisk('fsync', /\/staging\/[^/>]+>\)/)],
        ...flushed
      ],
      ['the last PATCH is answered', confirmed]
    ),
    ...missingSteps(
      calls,
      bytes,
      [
        ['the file is moved to its place', toDisk('rename', staged)],
        ['its new folder is flushed', toDisk('fsync', /\/blobs\/[^/>]+\/[0-9a-f]{2}>\)/)],
        ...flushed
      ],
      ['“done” is told', done]
    )
  ]
}

// whether `steps` followed `first` in this order, and `promise` was sent only after the last
function missingSteps(
  calls: SystemCall[],
  first: SystemCall,
  steps: [what: string, matches: (call: SystemCall) => boolean][],
  [promise, told]: [what: string, call: SystemCall | undefined]
): string[] {
  if (!told) return [`${promise}: never`]
  let last = first
  for (const [what, matches] of steps) {
    const next = calls.find(call => call.begun >= last.ended && call !== last && matches(call))
    if (!next || next.ended > told.begun) return [`${promise} before ${what}`]
    last = next
  }
  return []
}

/**
 * The system calls of a deposit that touch a disk or a file descriptor, each with an error that can
 * occur.
 */
export const tusFaults: DiskFault[] = [
  diskFault('opening the new file', 'openat', 1, 'EMFILE', 'staged file'),
  diskFault('opening it to flush', 'openat', 2, 'EMFILE', 'staged file'),
  diskFault('opening it to hash', 'openat', 3, 'EMFILE', 'staged file'),
  diskFault('writing on a full disk', 'pwrite64', 1, 'ENOSPC', 'staged file'),
  diskFault('writing', 'pwrite64', 1, 'EIO', 'staged file'),
  diskFault('flushing the file', 'fsync', 1, 'EIO', 'staged file'),
  diskFault('flushing it on a full disk', 'fsync', 1, 'ENOSPC', 'staged file'),
  diskFault('flushing its folder', 'fsync', 1, 'EIO', 'staging folder'),
  diskFault('reading it back', 'read', 1, 'EIO', 'staged file'),
  diskFault('moving it', 'rename', 1, 'EIO', 'staged file'),
  diskFault('moving it on a full disk', 'rename', 1, 'ENOSPC', 'staged file'),
  diskFault('creating its final folder on a full disk', 'mkdir', 2, 'ENOSPC'),
  diskFault('flushing its final folder', 'fsync', 3, 'EIO'),
  diskFault('taking a connection', 'accept4', 1, 'EMFILE'),
  diskFault('flushing the database’s log', 'fdatasync', 1, 'EIO', 'write-ahead log'),
  diskFault('writing the database’s log', 'pwrite64', 1, 'ENOSPC', 'write-ahead log')
]

/**
 * C-04: one system call of a deposit fails, and the depositor continues the upload as a browser
 * does. The service must have either the whole document or nothing of it.
 */
export async function testUploadDiskFaults(options: {
  seed: number
  rounds?: number
  faults?: readonly DiskFault[]
  onFault?: (text: string) => void
}) {
  const { seed, rounds, faults: tried = tusFaults, onFault } = options
  const random = createRandom(seed)
  await using service = await makeServiceProcess(singleThreadSettings)
  await service.start()
  const ada = await signUpAt(service.port, host)
  const send = (active?: DiskFault) => deposit(service, ada, random, active)
  const { sent, missed } = await sendUnderFaults({ rounds, faults: tried, send, onFault })
  const { faults, ...counts } = await checkFilesAndStop(service, sent)
  faults.push(...missed)
  return { seed, deposits: sent.length, ...counts, faults }
}

// If the fault made the job fail that records deposits, `settled` takes ten seconds longer.
async function deposit(service: ServiceProcess, ada: Client, random: Random, active?: DiskFault) {
  const bytes = random.bytes(random.integer(2, 70_000))
  const key = randomUUID()
  const { request, upload } = await retryFor(1, () => ada.reserve(bytes, key))
  const id = upload.slice('/uploads/'.length)
  const tracing = active && (await injectFault(service, active, id))
  const first = await ada.tus('PATCH', upload, { offset: 0, body: bytes }).catch(() => undefined)
  const injected = tracing && (await waitForFault(tracing))
  await tracing?.end()
  const acknowledged = await resumeUpload(ada, upload, bytes, first?.status === 204)
  const settle = async (): Promise<RememberedDocument> => {
    const state = await retryFor(1, () => endOf(ada, request.id))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const document = { host, request: request.id, upload: id, sha256, size: bytes.length }
    // an acknowledged document must be deposited in spite of the fault; a refused one must not
    return { ...document, end: acknowledged || state === 'done' ? 'acknowledged' : 'failed' }
  }
  return { told: first?.status ?? 'no answer', injected, settled: settle() }
}

async function endOf(ada: Client, id: string): Promise<string> {
  const { state } = await ada.call(getRequest, { id })
  if (['done', 'failed'].includes(state)) return state
  throw new AppError('unavailable', `the request is ${state}`)
}

// as a browser does after an error; returns whether the service has acknowledged all bytes
async function resumeUpload(ada: Client, upload: string, bytes: Uint8Array, promised: boolean) {
  if (promised) return true
  return retryFor(1, async () => {
    const head = await ada.tus('HEAD', upload)
    if (head.status !== 200) throw new AppError('unavailable', `HEAD answered ${head.status}`)
    const offset = Number(head.headers['upload-offset'])
    const body = bytes.subarray(offset)
    const answer = await ada.tus('PATCH', upload, { offset, body })
    if (answer.status === 204) return true
    if (answer.status === 409) return false
    throw new AppError('unavailable', `PATCH answered ${answer.status}`)
  })
}

/**
 * C-04: the disk of the documents is full for a while. Afterwards no document may be lost,
 * duplicated or incomplete.
 */
export async function testFullDisk(options: { seed: number; megabytes: number }) {
  const { seed, megabytes } = options
  await using service = await makeServiceProcess({ DEMO: 'false' })
  mkdirSync(service.documents, { recursive: true, mode: 0o700 })
  const mount = (...more: string[]) => run('mount', ['-t', 'tmpfs', ...more, service.documents])
  mount('-o', `size=${megabytes}m,mode=0700`, 'vidimus')
  using _unmounted = { [Symbol.dispose]: () => run('umount', ['-l', service.documents]) }
  await service.start()
  const crowd = await startDepositors({
    port: service.port,
    hosts: Array.from({ length: 8 }, () => host),
    random: createRandom(seed),
    patienceSeconds: 120
  })
  // until there were enough errors for each depositor to have had some
  for (const until = Date.now() + 300_000; (crowd.codes['internal'] ?? 0) < 40; await sleep(100)) {
    if (Date.now() > until) throw new Error('the disk did not become full')
  }
  run('mount', ['-o', 'remount,size=2g', service.documents])
  await crowd.finish()
  const lost = await deleteUnreferencedFiles(service)
  const { figures, faults } = await checkAndStop(service, crowd.remembered)
  return { seed, megabytes, codes: crowd.codes, figures, faults: [...lost, ...faults] }
}

function run(command: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
}
