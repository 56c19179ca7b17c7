import { availableParallelism } from 'node:os'
import { AppError } from '../../contract/kit/errors.ts'
import type { CallPlace, WaitingClient } from '../api/kit/context.ts'
import type { CompanyId } from '../domain/deps.ts'
import { networksOfAddress } from '../domain/ip-addresses.ts'
import { Places, presentMs } from './places.ts'

const cores = availableParallelism()
const unlimited = Number.POSITIVE_INFINITY
// with those for long reads 24 at once, and `openDatabase` opens a connection for each
const defaultCalls = 16
// no company holds all four beside others
const longReadPlaces = { all: 4, reserve: 0, besideOthers: Math.min(cores, 3), waiting: unlimited }
// In each turn of the event loop a company begins one request beside others, whatever becomes of it:
// a thousand refusals at once would keep the event loop busy for 250 ms. It also takes in one piece
// of a body, because hashing the pieces of a hundred uploads would take as long.
const turnPlaces = { all: 16, reserve: 4, besideOthers: 1, waiting: unlimited }
// anyone can make up host names below a wildcard domain, and each one has pages of its own
const domainRenders = { all: unlimited, reserve: 0, besideOthers: 2, waiting: 100 }
// a company has up to a hundred domains
const companyRenders = { all: 4, reserve: 4, besideOthers: 1, waiting: unlimited }

const turnWaitMs = 30_000
const renderWaitMs = 30_000
// a body that has arrived as a whole is not given up lightly
const returnWaitMs = 60_000

export interface CallLimits {
  perPerson: number
  perAddress: number
  /** Of which signed-out people may make half. */
  perCompany: number
}

const defaultLimits: CallLimits = { perPerson: 250, perAddress: 100, perCompany: 1000 }
// a batch uses memory and disk while its body arrives
const batchLimits = { perPerson: 6, perCompany: 32 }

export type Gate = ReturnType<typeof createGate>

/**
 * All companies use the same connections and the same event loop, so without places a thousand
 * calls of one company would delay every other company's next call.
 */
export function createGate(
  { perPerson, perAddress, perCompany }: CallLimits = defaultLimits,
  callsAtOnce = defaultCalls
) {
  const callPlaces = {
    all: callsAtOnce,
    reserve: 4,
    besideOthers: Math.min(cores, callsAtOnce),
    waiting: unlimited
  }
  const counts = new Map<string, number>()
  let last = { company: '', at: Number.NEGATIVE_INFINITY }
  let lastOfOthers = last
  const hasOthers = (company: string) =>
    performance.now() - (last.company === company ? lastOfOthers : last).at < presentMs
  const calls = new Places(callPlaces, hasOthers)
  const longReads = new Places(longReadPlaces, hasOthers)
  const turns = new Places(turnPlaces, hasOthers)
  const pieces = new Places(turnPlaces, hasOthers)
  const rendersOfDomains = new Places(domainRenders, () => true)
  const renders = new Places(companyRenders, () => true)

  const hasRoom = (key: string, most: number) => (counts.get(key) ?? 0) < most
  const add = (key: string, more: 1 | -1) => {
    const count = (counts.get(key) ?? 0) + more
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }

  function count(company: CompanyId, address: string | undefined): string[] | AppError {
    const all = `company ${company}`
    const strangers = `strangers ${company}`
    const network = `address ${company} ${address && (networksOfAddress(address)[0] ?? address)}`
    const isStranger = address !== undefined
    if (!hasRoom(all, perCompany) || (isStranger && !hasRoom(strangers, perCompany / 2))) {
      return tooManyOfCompanyError()
    }
    if (isStranger && !hasRoom(network, perAddress)) return tooManyError('an address', perAddress)
    const counted = isStranger ? [all, strangers, network] : [all]
    for (const key of counted) add(key, 1)
    return counted
  }

  // Pages come from memory or have places of their own, so slow calls delay no page.
  async function takeTurn(company: string, client?: WaitingClient): Promise<void> {
    if (last.company !== company) lastOfOthers = last
    last = { company, at: performance.now() }
    await turns.run(company, async () => undefined, { client, waitMs: turnWaitMs })
  }

  return {
    /** Waits at most 5 seconds. Uploads are not counted, because they have limits of their own. */
    async enter({
      company,
      address,
      client,
      isCounted = true
    }: {
      company: CompanyId
      address?: string | undefined
      client?: WaitingClient
      isCounted?: boolean
    }): Promise<CallPlace> {
      const counting = isCounted ? count(company, address) : []
      const counted = counting instanceof AppError ? [] : counting
      const countPerson = (key: string, most: number) => {
        if (!hasRoom(key, most)) throw tooManyError('a person', most)
        counted.push(key)
        add(key, 1)
      }
      const uncount = () => {
        for (const key of counted.splice(0)) add(key, -1)
      }
      let giveBack: (() => void) | undefined
      const leave = () => {
        giveBack?.()
        giveBack = undefined
      }
      try {
        await takeTurn(company, client)
        if (counting instanceof AppError) throw counting
        giveBack = await calls.take(company, { client }).catch(async (error: unknown) => {
          // many may have waited too long at the same time
          await takeTurn(company, client)
          throw error
        })
      } catch (error) {
        uncount()
        throw error
      }
      return {
        countPerson: id => countPerson(`person ${company} ${id}`, perPerson),
        countBatch(id) {
          const all = `batches ${company}`
          if (!hasRoom(all, batchLimits.perCompany)) throw tooManyOfCompanyError()
          countPerson(`batches ${company} ${id}`, batchLimits.perPerson)
          counted.push(all)
          add(all, 1)
        },
        async outside(wait) {
          leave()
          const result = await wait().catch(async (error: unknown) => {
            // what follows cleans up, also for a client that has gone
            giveBack = await calls.take(company).catch(() => undefined)
            throw error
          })
          giveBack = await calls.take(company, { client, waitMs: returnWaitMs })
          return result
        },
        takeTurn: () => pieces.run(company, async () => undefined, { client, waitMs: turnWaitMs }),
        longRead(read, waitMs) {
          leave()
          return longReads.run(company, read, { client, waitMs })
        },
        end() {
          leave()
          uncount()
        }
      }
    },

    takeTurn,

    render: <T>(whose: { company_id: string; domain: string }, work: () => Promise<T>) => {
      const taker = { waitMs: renderWaitMs }
      const renderInPlace = async () => {
        const giveBack = await renders.take(whose.company_id, taker)
        const began = performance.now()
        try {
          return await work()
        } finally {
          // the event loop belongs to others for as long
          setTimeout(giveBack, performance.now() - began)
        }
      }
      return rendersOfDomains.run(whose.domain, renderInPlace, taker)
    }
  }
}

function tooManyOfCompanyError(): AppError {
  return new AppError('unavailable', 'Too many calls of this company are under way', {
    retryAfter: 1
  })
}

function tooManyError(whose: string, limit: number): AppError {
  return new AppError('rate_limited', `At most ${limit} calls of ${whose} at the same time`, {
    retryAfter: 1,
    figures: { used: limit, limit, resets_at: null }
  })
}
