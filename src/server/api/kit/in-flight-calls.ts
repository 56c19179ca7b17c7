import { AppError } from '../../../contract/kit/errors.ts'
import type { CompanyId, WaitingClient } from '../../domain/deps.ts'
import { networksOfAddress } from '../../domain/ip-addresses.ts'

/**
 * Maximum numbers of API calls that may run at the same time. Event streams and uploads have
 * separate limits.
 */
export interface InFlightLimits {
  perPerson: number
  /**
   * Maximum number of concurrent calls that signed-out people may make from one network. If
   * absent, signed-out people may make none.
   */
  perAddress?: number
  perCompany: number
}

const defaultLimits: InFlightLimits = { perPerson: 250, perAddress: 100, perCompany: 1000 }
const retrySeconds = 1

/**
 * An API call that counts toward the limits of concurrent calls, from its arrival until `end` is
 * called.
 */
export interface InFlightCall {
  /**
   * The client that waits for the HTTP response. When the client disconnects, the call stops
   * waiting for a database connection.
   */
  readonly caller: WaitingClient | undefined
  /**
   * Counts the call toward the limit of one caller, in addition to the company's limit. Throws
   * `rate_limited` when the caller has too many calls at the same time.
   *
   * There are two limiters, which differ in what `id` is:
   * - The limiter of all calls: the id of the person or, if a program calls, of the API key.
   * - The limiter of batches of deposits, in which these calls count too: the id of the person to
   *   whom the API key belongs, so that all API keys of a person share one limit. For an API key of
   *   a company, it is the id of the account that was created for the key.
   */
  countPerson(id: string): void
  end(): void
}

export interface InFlightCallLimiter {
  /**
   * Counts a call of a company as running until `end` is called on the result. Throws `unavailable`
   * when the company has too many calls at the same time, and `rate_limited` when the network of a
   * signed-out caller has too many. Calls of signed-out people may use only half of the company's
   * limit, so that signed-in people are still served.
   */
  begin(call: {
    company: CompanyId
    /** Network address of a signed-out caller. Undefined for a call with a token. */
    address: string | undefined
    caller: WaitingClient | undefined
  }): InFlightCall
}

/**
 * Creates a limiter of concurrent calls. A call above a limit is refused immediately and does not
 * wait.
 */
export function createInFlightCallLimiter({
  perPerson,
  perAddress = 0,
  perCompany
}: InFlightLimits = defaultLimits): InFlightCallLimiter {
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
      const network = `address ${company} ${address && (networksOfAddress(address)[0] ?? address)}`
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
