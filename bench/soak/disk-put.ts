import { createHash, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listRequests, ProcessedRequest } from '../../src/contract/requests.ts'
import { type Client, type HttpAnswer, signUpAt } from '../../tests/helpers/client.ts'
import { createRandom, type Random } from '../../tests/helpers/random.ts'
import { retryFor } from '../../tests/helpers/retry-for.ts'
import { makeServiceProcess, type ServiceProcess } from '../../tests/helpers/service.ts'
import type { RememberedDocument } from './depositors.ts'
import {
  checkFilesAndStop,
  type DiskFault,
  diskFault,
  injectFault,
  sendUnderFaults,
  singleThreadSettings,
  waitForFault
} from './disk-faults.ts'
import type { Trace } from './strace.ts'

interface PutFault extends DiskFault {
  /** Before the file exists, or when half of its bytes are written. */
  from: 'start' | 'halfway'
}

/** The system calls of `PUT /deposit` that touch a disk, each with an error that can occur. */
export const putFaults: PutFault[] = [
  from('start', diskFault('making its folder on a full disk', 'mkdir', 1, 'ENOSPC')),
  from('start', diskFault('opening the new file', 'openat', 1, 'EMFILE')),
  from('halfway', diskFault('writing on a full disk', 'pwrite64', 1, 'ENOSPC', 'staged file')),
  from('halfway', diskFault('writing', 'pwrite64', 1, 'EIO', 'staged file')),
  from('halfway', diskFault('opening it to flush', 'openat', 1, 'EMFILE', 'staged file')),
  from('halfway', diskFault('flushing the file', 'fsync', 1, 'EIO', 'staged file')),
  from('halfway', diskFault('flushing it on a full disk', 'fsync', 1, 'ENOSPC', 'staged file')),
  from('halfway', diskFault('flushing its folder', 'fsync', 1, 'EIO', 'staging folder')),
  from('halfway', diskFault('moving it', 'rename', 1, 'EIO', 'staged file')),
  from('halfway', diskFault('creating its final folder on a full disk', 'mkdir', 1, 'ENOSPC')),
  from('halfway', diskFault('flushing its final folder', 'fsync', 3, 'EIO')),
  from(
    'halfway',
    diskFault('flushing the database’s log', 'fdatasync', 1, 'EIO', 'write-ahead log')
  ),
  from(
    'halfway',
    diskFault('writing the database’s log', 'pwrite64', 1, 'ENOSPC', 'write-ahead log')
  )
]

function from(moment: PutFault['from'], failing: DiskFault): PutFault {
  return { ...failing, from: moment }
}

interface Sent {
  name: string
  bytes: Uint8Array
  failures: number
  request: ProcessedRequest
}

/**
 * C-04 for `PUT /deposit`: one system call fails for each file. The sender repeats the call with
 * the same idempotency key. The history must then have exactly one deposit of each file, and at
 * most as many failed requests as the sender got errors.
 */
export async function testPutDiskFaults(options: {
  seed: number
  rounds?: number
  faults?: readonly PutFault[]
  onFault?: (text: string) => void
}) {
  const { seed, rounds, faults: tried = putFaults, onFault } = options
  const random = createRandom(seed)
  await using service = await makeServiceProcess(singleThreadSettings)
  await service.start()
  const ada = await signUpAt(service.port, 'localhost')
  const { sent, missed } = await sendUnderFaults({
    rounds,
    faults: tried,
    onFault: onFault && (text => onFault(`PUT: ${text}`)),
    async send(fault?: PutFault) {
      const last = await sendFile(service, ada, random, fault)
      // a repeated upload would be taken for that of the next file
      if (fault) await last.settled
      return last
    }
  })
  const remembered: RememberedDocument[] = []
  for (const each of sent) {
    const found = await historyOf(ada, each)
    remembered.push(...found.remembered)
    missed.push(...found.faults)
  }
  const { faults, ...counts } = await checkFilesAndStop(service, remembered)
  faults.push(...missed)
  return { seed, sent: sent.length, ...counts, faults }
}

// returns when the fault is over, which may be before the file is deposited
async function sendFile(service: ServiceProcess, ada: Client, random: Random, fault?: PutFault) {
  const bytes = random.bytes(random.integer(2, 70_000))
  const name = `${randomUUID()}.pdf`
  const key = randomUUID()
  // the previous fault may have stopped the database
  await retryFor(1, () => ada.call(listRequests, { limit: 1 }))
  const known = stagedIn(service)
  let tracing: Promise<Trace> | undefined
  if (fault?.from === 'start') {
    tracing = injectFault(service, fault, '')
    await tracing
  }
  const halfway = async () => {
    if (fault?.from !== 'halfway') return
    tracing = injectFault(service, fault, await waitForUpload(service, known))
    await tracing
  }
  let failures = 0
  const call = async (): Promise<ProcessedRequest> => {
    const answer: HttpAnswer | undefined = await ada
      .put(bytes, { name, key, ...(failures === 0 ? { halfway } : {}) })
      .catch(() => undefined)
    if (answer?.status === 201) return ProcessedRequest.parse(JSON.parse(answer.body.toString()))
    failures++
    throw new Error(`PUT answered ${answer?.status}`)
  }
  // if the database is down for long, the service ends the first call only after a minute
  const settled = retryFor(3, call).then((request): Sent => ({ name, bytes, failures, request }))
  settled.catch(() => undefined) // thrown where it is awaited
  if (!fault) return { injected: true, settled }
  for (const until = Date.now() + 10_000; !tracing && Date.now() < until; ) await sleep(5)
  const strace = await tracing
  const injected = strace !== undefined && (await waitForFault(strace))
  await strace?.end()
  return { injected, settled }
}

// also a sentence for each way in which the history differs from the responses that the sender got
async function historyOf(ada: Client, { name, bytes, failures, request }: Sent) {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const found = await ada.call(listRequests, { q: name, limit: 200 })
  const faults: string[] = []
  const done = found.filter(({ state }) => state === 'done')
  if (done.length !== 1 || done[0]?.id !== request.id) {
    faults.push(`${done.length} documents came of ${name}, of which ${request.id} was told`)
  }
  const rest = found.filter(({ state }) => state !== 'done')
  if (rest.length > failures) faults.push(`${name} failed ${rest.length} times, told ${failures}`)
  for (const { state, code } of rest) {
    if (state !== 'failed' || code !== 'not_stored') {
      faults.push(`what our disk broke of ${name} is ${state} (${code})`)
    }
  }
  const remembered = found.map(
    ({ id, state }): RememberedDocument => ({
      host: ada.host,
      request: id,
      sha256,
      size: bytes.length,
      end: state === 'done' ? 'acknowledged' : 'failed'
    })
  )
  return { remembered, faults }
}

function stagedIn(service: ServiceProcess): string[] {
  return readdirSync(join(service.documents, 'staging'), { recursive: true, encoding: 'utf8' })
}

async function waitForUpload(service: ServiceProcess, known: string[]): Promise<string> {
  for (const until = Date.now() + 10_000; Date.now() < until; await sleep(2)) {
    const path = stagedIn(service).find(each => each.includes('/') && !known.includes(each))
    if (path) return path.slice(path.indexOf('/') + 1)
  }
  throw new Error('no upload was begun')
}
