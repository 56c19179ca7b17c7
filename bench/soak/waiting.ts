import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, signUpAt } from '../../tests/helpers/client.ts'
import { createRandom } from '../../tests/helpers/random.ts'
import { makeServiceProcess, type ServiceProcess } from '../../tests/helpers/service.ts'
import { cpuOf, memoryOf } from '../processes.ts'

const host = 'localhost'
// of one core
const maxCpuShare = 0.25
const maxGrownMb = 64

interface Cost {
  waiting: number
  cpuSeconds: number
  grownMb: number
  answers: Record<string, number>
}

/**
 * The cost of many PATCH calls that wait for the same upload, announce bytes and never send any. A
 * caller who is refused tries again after one second.
 */
export async function measureWaitingCalls({ seed, seconds }: { seed: number; seconds: number }) {
  await using service = await makeServiceProcess({ DEMO: 'false' })
  await service.start()
  const ada = await signUpAt(service.port, host)
  const bytes = createRandom(seed).bytes(1_000_000)
  const { upload } = await ada.reserve(bytes, randomUUID())
  // warm-up, because the first call also loads code
  await measure(service, ada, upload, 3, 3)
  const costs: Cost[] = []
  for (const waiting of [0, 10, 100]) {
    costs.push(await measure(service, ada, upload, waiting, seconds))
  }
  const faults = costs.flatMap(({ waiting, cpuSeconds, grownMb }) => [
    ...(cpuSeconds > seconds * maxCpuShare ? [`${waiting} took ${cpuSeconds} s of processor`] : []),
    ...(grownMb > maxGrownMb ? [`${waiting} took ${grownMb} MB of memory`] : [])
  ])
  const { status } = await retryWhileBusy(() =>
    ada.tus('PATCH', upload, { offset: 0, body: bytes })
  )
  if (status !== 204) faults.push(`the upload that was waited for ended with ${status}`)
  return { seed, seconds, costs, faults }
}

async function measure(
  service: ServiceProcess,
  person: Client,
  upload: string,
  waiting: number,
  seconds: number
): Promise<Cost> {
  const over = new AbortController()
  const answers: Record<string, number> = {}
  const pid = service.pid()
  const before = { cpuSeconds: cpuOf(pid), mb: memoryOf(pid) }
  const callers = Array.from({ length: waiting }, async () => {
    while (!over.signal.aborted) {
      const status = await openPatch(service.port, person, upload, over.signal)
      answers[status] = (answers[status] ?? 0) + 1
      await sleep(1000, undefined, { signal: over.signal }).catch(() => undefined)
    }
  })
  await sleep(seconds * 1000)
  const after = { cpuSeconds: cpuOf(pid), mb: memoryOf(pid) }
  over.abort()
  await Promise.all(callers)
  const cpuSeconds = Number((after.cpuSeconds - before.cpuSeconds).toFixed(2))
  return { waiting, cpuSeconds, grownMb: Math.round(after.mb - before.mb), answers }
}

// sends no body; `open` if no response came
function openPatch(
  port: number,
  person: Client,
  path: string,
  signal: AbortSignal
): Promise<string> {
  return new Promise(resolve => {
    const outgoing = http.request({
      host: '127.0.0.1',
      port,
      agent: false,
      method: 'PATCH',
      path,
      signal,
      headers: {
        host: `api.${host}`,
        authorization: `Bearer ${person.token()}`,
        'tus-resumable': '1.0.0',
        'upload-offset': '0',
        'content-type': 'application/offset+octet-stream',
        'content-length': '1000000'
      }
    })
    outgoing.on('error', () => resolve('open'))
    outgoing.once('response', response => {
      response.resume()
      resolve(String(response.statusCode))
    })
    outgoing.flushHeaders()
  })
}

// an upload stays busy until the service notices that the earlier calls have disconnected
async function retryWhileBusy(call: () => ReturnType<Client['tus']>) {
  for (let tries = 0; ; tries++) {
    const answer = await call()
    if (answer.status !== 409 || tries === 10) return answer
    await sleep(1000)
  }
}
