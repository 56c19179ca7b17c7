import { LRUCache } from 'lru-cache'
import * as z from 'zod/mini'
import { DomainConfig } from '../contract/domains.ts'
import { AppError } from '../contract/kit/errors.ts'

/** Whose a host is, and what its pages show. */
export const Owner = z.object({
  company_id: z.string(),
  config: DomainConfig,
  /** The number of fingerprints that a network may verify in a minute without signing in. */
  checksPerMinute: z.number(),
  /** For the DNS records that domains need. */
  publicAddresses: z.array(z.string())
})
export type Owner = z.infer<typeof Owner>

/** Shows a process of the API that a process of the site may ask for any host. */
export const siteSecretHeader = 'site-secret'

/** Where the API answers. */
export type OwnerSource =
  /** It tells those who know the secret about any host. */
  | { apiUrl: string; secret: string }
  /** It tells anybody about the host that it is asked at, and less than it tells a site. */
  | { apiOriginOf: (host: string) => string; checksPerMinute: number }

export interface OwnerReaderOptions {
  fetch: typeof globalThis.fetch
  now?: () => number
  /** Keeps the work of a request going after its answer. */
  waitUntil?: (work: Promise<unknown>) => void
  maxCharacters?: number
  /** Of hosts of which it is not known that they have an owner. */
  maxUnknownWaiting?: number
}

const freshMs = 1000
const staleMs = 2000
// pages that are known stay while the API is away
const awayMs = 600_000
const answerMs = 5000
// what an entry takes besides its text
const entryCharacters = 500
// of hosts of which it is not known that they have an owner; strangers can make them up
const maxUnknownAtOnce = 32

interface Known {
  owner: Owner | undefined
  characters: number
  at: number
}

/**
 * Asks the API whose a host is. An answer is used for a second, and for two while the next one is
 * on its way.
 */
export function createOwnerReader(
  source: OwnerSource,
  {
    fetch,
    now = Date.now,
    waitUntil,
    maxCharacters = 32_000_000,
    maxUnknownWaiting = 1000
  }: OwnerReaderOptions
): (host: string) => Promise<Owner | undefined> {
  const known = new LRUCache<string, Known>({
    maxSize: maxCharacters,
    sizeCalculation: ({ characters }) => characters
  })
  const asked = new Map<string, Promise<Owner | undefined>>()
  const inTurn = createTurns(maxUnknownWaiting)
  const isSecret = 'secret' in source

  async function ask(host: string): Promise<Owner | undefined> {
    const at = now()
    const response = await fetch(`${isSecret ? source.apiUrl : source.apiOriginOf(host)}/${host}`, {
      ...(isSecret && { headers: { [siteSecretHeader]: source.secret } }),
      // it would take the secret elsewhere
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs)
    })
    const text = await response.text()
    const isNobodys = response.status === 404 || (!isSecret && response.status === 421)
    if (!response.ok && !isNobodys) {
      throw new Error(`The API answers ${response.status} to the site`)
    }
    const owner = isNobodys ? undefined : read(JSON.parse(text))
    known.set(host, { owner, at, characters: entryCharacters + text.length })
    return owner
  }

  function read(answer: unknown): Owner {
    if (isSecret) return Owner.parse(answer)
    const config = DomainConfig.parse(answer)
    const { checksPerMinute } = source
    return { company_id: config.id, config, checksPerMinute, publicAddresses: [] }
  }

  function askOnce(host: string): Promise<Owner | undefined> {
    const running = asked.get(host)
    if (running) return running
    const isKnown = known.get(host)?.owner !== undefined
    const answer = isKnown ? ask(host) : inTurn(() => ask(host))
    const asking = answer.finally(() => asked.delete(host))
    asked.set(host, asking)
    const settled = asking.catch(() => undefined) // the next visitor asks again
    waitUntil?.(settled)
    return asking
  }

  return async host => {
    const found = known.get(host)
    const age = found ? now() - found.at : Number.POSITIVE_INFINITY
    if (found && age < freshMs) return found.owner
    const asking = askOnce(host)
    // nothing is attached to it: on an edge runtime, this request may end before that of another
    if (found && age < staleMs) return found.owner
    try {
      return await asking
    } catch (cause) {
      if (found?.owner && age < awayMs) return found.owner
      throw new AppError('unavailable', 'The API does not answer the site', { cause })
    }
  }
}

function createTurns(maxWaiting: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <T>(run: () => Promise<T>): Promise<T> => {
    if (running < maxUnknownAtOnce) running += 1
    else if (waiting.length < maxWaiting) {
      await new Promise<void>(resolve => void waiting.push(resolve))
    } else throw new Error('too many unknown hosts are asked for')
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
