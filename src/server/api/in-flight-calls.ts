import { AppError } from '../../contract/errors.ts'
import type { CompanyId, WaitingClient } from '../domain/deps.ts'
import { countedNetworks } from '../domain/ip-addresses.ts'

/** Limits of concurrent calls. Streams and uploads have limits of their own. */
export interface InFlightLimits {
  perPerson: number
  /** Calls of people who are not signed in, from one network. */
  perAddress: number
  perCompany: number
}

const usual: InFlightLimits = { perPerson: 250, perAddress: 100, perCompany: 1000 }
const retrySeconds = 1

/** One call, from before its caller is known until it is answered. */
export interface InFlightCall {
  /** The waiting client. When it disconnects, the call stops waiting for the database. */
  readonly caller: WaitingClient | undefined
  /** Counts the call for a person. Throws `rate_limited` where they have too many. */
  countPerson(id: string): void
  end(): void
}

export interface InFlightCalls {
  /**
   * Counts a call of a company. Throws `unavailable` where too many are under way. Calls of people
   * who are not signed in may take half of the limit, so that signed-in people still get through.
   */
  begin(call: {
    company: CompanyId
    /** Address of a caller without a token. */
    address: string | undefined
    caller: WaitingClient | undefined
  }): InFlightCall
}

/** Limits concurrent calls. A call beyond the limit is refused at once and does not wait. */
export function createInFlightCalls({
  perPerson,
  perAddress,
  perCompany
}: InFlightLimits = usual): InFlightCalls {
  const counts = new Map<string, number>()
  const hasRoom = (key: string, most: number) => (counts.get(key) ?? 0) < most
  const add = (key: string, more: 1 | -1) => {
    const count = (counts.get(key) ?? 0) + more
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }
  return {
    begin({ company, address, caller }) {
      const all = `company ${company}`
      const strangers = `strangers ${company}`
      const network = `address ${company} ${address && (countedNetworks(address)[0] ?? address)}`
      const isStranger = address !== undefined
      if (!hasRoom(all, perCompany) || (isStranger && !hasRoom(strangers, perCompany / 2))) {
        throw new AppError('unavailable', 'Too many calls of this company are under way', {
          retryAfter: retrySeconds
        })
      }
      if (isStranger && !hasRoom(network, perAddress)) throw tooMany('an address', perAddress)
      const counted = isStranger ? [all, strangers, network] : [all]
      for (const key of counted) add(key, 1)
      return {
        caller,
        countPerson(id) {
          const person = `person ${company} ${id}`
          if (!hasRoom(person, perPerson)) throw tooMany('a person', perPerson)
          counted.push(person)
          add(person, 1)
        },
        end() {
          for (const key of counted.splice(0)) add(key, -1)
        }
      }
    }
  }
}

function tooMany(whose: string, limit: number): AppError {
  return new AppError('rate_limited', `At most ${limit} calls of ${whose} at the same time`, {
    retryAfter: retrySeconds,
    figures: { used: limit, limit, resets_at: null }
  })
}
