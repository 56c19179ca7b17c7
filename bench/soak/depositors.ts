import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../src/contract/errors.ts'
import { fromProblem } from '../../src/contract/problems.ts'
import { type Answer, type Client, signUpAt } from '../../tests/helpers/client.ts'
import type { Random } from '../../tests/helpers/random.ts'

/** A document as its depositor remembers it. The service must agree. */
export interface Remembered {
  host: string
  request: string
  /** Nothing where it came by `PUT /deposit`, which never says. */
  upload?: string
  sha256: string
  size: number
  /**
   * `acknowledged`: the last PATCH answered 204, so the service guarantees the deposit. `failed`: it was
   * refused permanently, so there is none.
   */
  end: 'acknowledged' | 'abandoned' | 'cancelled' | 'failed'
}

export interface Crowd {
  clients: Client[]
  remembered: Remembered[]
  /** Error codes with their counts. */
  codes: Record<string, number>
  /** Stops after everybody has finished their current document. */
  finish(): Promise<void>
}

/** Documents that several people deposit. They share one stored file. */
const commonDocuments = 5

/** Starts people who deposit one document after another and resume after every failure. */
export async function startDepositors(options: {
  port: number
  hosts: string[]
  random: Random
  patienceSeconds: number
}): Promise<Crowd> {
  const { port, hosts, random, patienceSeconds } = options
  const remembered: Remembered[] = []
  const codes: Record<string, number> = {}
  const common = Array.from({ length: commonDocuments }, () => random.bytes(sizeOf(random)))
  let finishing = false

  /** Tries until the call is answered. Repeats it after every failure of the service. */
  async function insist<T>(client: Client | undefined, work: () => Promise<T>): Promise<T> {
    const until = Date.now() + patienceSeconds * 1000
    for (;;) {
      try {
        return await work()
      } catch (error) {
        const code = error instanceof AppError ? error.code : 'offline'
        codes[code] = (codes[code] ?? 0) + 1
        if (!passing.includes(code) || Date.now() > until) throw error
        if (code === 'unauthenticated') await client?.renew().catch(() => undefined)
      }
      await sleep(100)
    }
  }

  async function deposit(client: Client, mine: Random): Promise<Remembered> {
    const bytes = mine.chance(0.1) ? mine.pick(common) : mine.bytes(sizeOf(mine))
    const key = randomUUID()
    const { request, upload } = await insist(client, () => client.reserve(bytes, key))
    const document = {
      host: client.host,
      request: request.id,
      upload: upload.slice('/uploads/'.length),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      size: bytes.length
    }
    const whim = mine.integer(1, 40)
    const enough = whim <= 2 ? Math.floor(bytes.length / 2) : bytes.length
    await insist(client, () => transfer(client, mine, upload, bytes.subarray(0, enough), bytes))
    if (enough === bytes.length) return { ...document, end: 'acknowledged' }
    if (whim === 1) return { ...document, end: 'abandoned' }
    await insist(client, () => cancel(client, upload))
    return { ...document, end: 'cancelled' }
  }

  async function depositAll(client: Client, mine: Random): Promise<void> {
    while (!finishing) remembered.push(await deposit(client, mine))
  }

  // a service that has just started may have more to do than it can
  const clients = await Promise.all(
    hosts.map(host => insist(undefined, () => signUpAt(port, host)))
  )
  const work = clients.map(client => depositAll(client, random.fork()))
  const all = Promise.all(work)
  all.catch(() => undefined) // told by finish()
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

/** Failures after which a person tries again. */
const passing = [
  'offline',
  'unavailable',
  'unauthenticated',
  'internal',
  'idempotency_in_flight',
  // the process before was killed while it wrote: asked again, the service says where it stands
  'upload_busy',
  'upload_offset'
]

/** From where the server stands to the end of `part`, in one to four PATCHes. */
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
    // every byte is there, and whether that was ever promised is not known: asked for again
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

function requireStatus(answer: Answer, status: number): void {
  if (answer.status === status) return
  // a HEAD has no body, and its failures are passing ones here
  if (answer.body.length === 0 && answer.status >= 500) {
    throw new AppError('unavailable', `answered ${answer.status}`)
  }
  throw fromProblem(answer.status, bodyOf(answer))
}

function codeOf(answer: Answer): unknown {
  const body = bodyOf(answer)
  return typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
}

function bodyOf(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body.toString())
  } catch {
    return undefined
  }
}

/** Mostly small, at times up to 3 MB, at least one byte. */
function sizeOf(random: Random): number {
  const most = random.pick([16, 4000, 60_000, 60_000, 400_000, 3_000_000])
  return random.integer(1, most)
}
