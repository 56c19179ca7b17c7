import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../src/contract/kit/errors.ts'
import { errorFromProblem } from '../../src/contract/kit/problems.ts'
import { type Client, type HttpAnswer, signUpAt } from '../../tests/helpers/client.ts'
import type { Random } from '../../tests/helpers/random.ts'

export interface RememberedDocument {
  host: string
  request: string
  /** Undefined for `PUT /deposit`, whose response does not contain one. */
  upload?: string
  sha256: string
  size: number
  /**
   * `acknowledged`: the last PATCH was answered with 204, so the service must have the deposit.
   * `abandoned` and `cancelled`: after half of the bytes. `failed`: refused permanently.
   */
  end: 'acknowledged' | 'abandoned' | 'cancelled' | 'failed'
}

interface Depositors {
  clients: Client[]
  remembered: RememberedDocument[]
  codes: Record<string, number>
  /** Waits until each person has finished their current document, then stops them. */
  finish(): Promise<void>
}

// the service stores one file for all deposits of the same bytes
const commonDocuments = 5

/**
 * People deposit until `finish()` is called. After an error they continue their current document.
 */
export async function startDepositors(options: {
  port: number
  hosts: string[]
  random: Random
  patienceSeconds: number
}): Promise<Depositors> {
  const { port, hosts, random, patienceSeconds } = options
  const remembered: RememberedDocument[] = []
  const codes: Record<string, number> = {}
  const common = Array.from({ length: commonDocuments }, () => random.bytes(sizeOf(random)))
  let finishing = false

  // throws errors other than `passing` immediately, and signs the client in again if its session
  // has ended
  async function retry<T>(client: Client | undefined, work: () => Promise<T>): Promise<T> {
    const until = Date.now() + patienceSeconds * 1000
    for (;;) {
      try {
        return await work()
      } catch (error) {
        const code = error instanceof AppError ? error.code : 'offline'
        codes[code] = (codes[code] ?? 0) + 1
        if (!passing.includes(code)) throw error
        if (Date.now() > until) {
          const met = JSON.stringify(codes)
          throw new Error(`nothing got through for ${patienceSeconds} s: ${met}`, { cause: error })
        }
        if (code === 'unauthenticated') await client?.renew().catch(() => undefined)
      }
      await sleep(100)
    }
  }

  async function deposit(client: Client, mine: Random): Promise<RememberedDocument> {
    const bytes = mine.chance(0.1) ? mine.pick(common) : mine.bytes(sizeOf(mine))
    const key = randomUUID()
    const { request, upload } = await retry(client, () => client.reserve(bytes, key))
    const document = {
      host: client.host,
      request: request.id,
      upload: upload.slice('/uploads/'.length),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      size: bytes.length
    }
    const whim = mine.integer(1, 40)
    const enough = whim <= 2 ? Math.floor(bytes.length / 2) : bytes.length
    await retry(client, () => transfer(client, mine, upload, bytes.subarray(0, enough), bytes))
    if (enough === bytes.length) return { ...document, end: 'acknowledged' }
    if (whim === 1) return { ...document, end: 'abandoned' }
    await retry(client, () => cancel(client, upload))
    return { ...document, end: 'cancelled' }
  }

  async function depositAll(client: Client, mine: Random): Promise<void> {
    while (!finishing) remembered.push(await deposit(client, mine))
  }

  // a service that has just started may be overloaded
  const clients = await Promise.all(hosts.map(host => retry(undefined, () => signUpAt(port, host))))
  const work = clients.map(client => depositAll(client, random.fork()))
  const all = Promise.all(work)
  all.catch(() => undefined) // finish() throws it
  return {
    clients,
    remembered,
    codes,
    async finish() {
      finishing = true
      await all
    }
  }
}

// errors after which a person tries again
const passing = [
  'offline',
  'unavailable',
  'unauthenticated',
  'internal',
  'idempotency_in_flight',
  // the previous process was killed while it wrote; a new request returns the current offset
  'upload_busy',
  'upload_offset'
]

// in one to four requests, without the bytes that the service already has
async function transfer(
  client: Client,
  random: Random,
  upload: string,
  part: Uint8Array,
  whole: Uint8Array
): Promise<void> {
  const head = await client.tus('HEAD', upload)
  requireStatus(head, 200)
  let offset = Number(head.headers['upload-offset'])
  if (offset === whole.length) {
    // all bytes have arrived, but perhaps no response did, so an empty PATCH requests the
    // acknowledgment
    const answer = await client.tus('PATCH', upload, { offset, body: new Uint8Array() })
    if (codeOf(answer) !== 'upload_state') requireStatus(answer, 204)
    return
  }
  const step = Math.max(1, Math.ceil(part.length / random.integer(1, 4)))
  while (offset < part.length) {
    const body = part.subarray(offset, offset + step)
    requireStatus(await client.tus('PATCH', upload, { offset, body }), 204)
    offset += body.length
  }
}

async function cancel(client: Client, upload: string): Promise<void> {
  const answer = await client.tus('DELETE', upload)
  if (codeOf(answer) !== 'cancelled') requireStatus(answer, 204)
}

function requireStatus(answer: HttpAnswer, status: number): void {
  if (answer.status === status) return
  // a response to HEAD has no body with a code; here its 5xx errors are always temporary
  if (answer.body.length === 0 && answer.status >= 500) {
    throw new AppError('unavailable', `answered ${answer.status}`)
  }
  throw errorFromProblem(answer.status, bodyOf(answer))
}

function codeOf(answer: HttpAnswer): unknown {
  const body = bodyOf(answer)
  return typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
}

function bodyOf(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.body.toString())
  } catch {
    return undefined
  }
}

// mostly small, sometimes up to 3 MB
function sizeOf(random: Random): number {
  const most = random.pick([16, 4000, 60_000, 60_000, 400_000, 3_000_000])
  return random.integer(1, most)
}
