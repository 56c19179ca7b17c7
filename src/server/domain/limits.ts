import { AsyncLocalStorage } from 'node:async_hooks'
import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError, type ErrorCode } from '../../contract/errors.ts'
import type { Deps, Limits, Tenant } from './deps.ts'

/** How much of a limit is left to a caller, told with the answer. */
export interface Reading {
  name: string
  limit: number
  seconds: number
  remaining: number
  resetSeconds: number
}

interface Rule {
  points: (limits: Limits) => number
  seconds: number
  code: ErrorCode
  /** Told to the caller: not what other people's calls have used up, and nothing of a login. */
  told: boolean
}

const minute = 60
const hour = 3600
const day = 86_400

const rules = {
  /** Challenges and logins of one address. */
  sign_in_address: told(rule(limits => limits.signInPerAddressMinute, minute)),
  /** Tries to make an account, from one address. */
  sign_up_address: told(rule(limits => limits.signUpPerAddressHour, hour)),
  /** Mails asked for, from one address and for one e-mail, known or not. */
  mail_address: told(rule(limits => limits.mailsPerAddressHour, hour)),
  mail_email: rule(() => 3, hour),
  /** Mailed links tried from one address. */
  mail_token_address: rule(limits => limits.mailTokensPerAddress, 15 * minute),
  /** Failed logins of one e-mail, known or not, from one address. */
  login_address: rule(() => 10, 15 * minute),
  login_email: rule(() => 100, hour),
  /** Failed logins of one e-mail from a browser that has signed in before, so that no stranger blocks the owner. */
  login_device: rule(() => 10, 15 * minute),
  /** Wrong present passwords of one person, so that a stolen session is no place to guess them. */
  rekey_user: rule(() => 10, 15 * minute),
  /** Tries of the setup code from one address. */
  setup_address: rule(() => 10, hour),
  /** Fingerprints looked up. */
  verify_address_minute: told(
    rule(limits => limits.verifyPerAddressMinute, minute, 'lookup_limited')
  ),
  verify_address_day: told(rule(limits => limits.verifyPerAddressDay, day, 'lookup_limited')),
  verify_company_day: rule(limits => limits.verifyPerCompanyDay, day, 'lookup_limited'),
  verify_user_minute: told(rule(limits => limits.verifyPerUserMinute, minute, 'lookup_limited')),
  /** What browsers tell of our own pages. */
  csp_report_address: told(rule(limits => limits.reportsPerAddressMinute, minute))
} satisfies Record<string, Rule>

export type LimitName = keyof typeof rules

/** What is counted: a company, and within it an address, e-mail or person. */
export type Counted = readonly [company: string, ...parts: string[]]

/**
 * Counts `points`, or refuses with the seconds after which they fit. A refused try counts as well.
 * A batch larger than the whole limit takes all of it.
 */
export async function consume(
  deps: Pick<Deps, 'keys' | 'settings'>,
  name: LimitName,
  counted: Counted,
  points = 1
): Promise<void> {
  const limit = rules[name].points(deps.settings.limits)
  try {
    note(
      name,
      limit,
      await limiter(deps, name).consume(pseudonym(deps, name, counted), Math.min(points, limit))
    )
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal
    note(name, limit, refusal)
    const retryAfter = secondsLeft(refusal)
    // the counters go by the process's own clock
    const resets_at = new Date(Date.now() + retryAfter * 1000).toISOString()
    throw new AppError(rules[name].code, `The limit ${name} is reached`, {
      retryAfter,
      figures: { used: Math.min(limit, refusal.consumedPoints), limit, resets_at }
    })
  }
}

/** Counts a mail that somebody asks for: the same for every e-mail, whoever is known. */
export async function consumeMails(
  deps: Pick<Deps, 'keys' | 'settings'>,
  { tenant, email, address }: { tenant: Tenant; email: string; address: string }
): Promise<void> {
  await consume(deps, 'mail_address', [tenant.company_id, networkOf(address)])
  await consume(deps, 'mail_email', [tenant.company_id, email])
}

/** Runs what a mailed link opens; a try that is refused counts against its address. */
export async function countingTokens<T>(
  deps: Pick<Deps, 'keys' | 'settings'>,
  { tenant, address }: { tenant: Tenant; address: string },
  run: () => Promise<T>
): Promise<T> {
  const counted = [tenant.company_id, networkOf(address)] as const
  await consume(deps, 'mail_token_address', counted)
  const result = await run()
  await refund(deps, 'mail_token_address', counted)
  return result
}

const readings = new AsyncLocalStorage<Map<string, Reading>>()

/** Runs a call and answers, beside its result, which limits it was counted against. */
export async function metered<T>(run: () => Promise<T>): Promise<{ result: T; read: Reading[] }> {
  const read = new Map<string, Reading>()
  const result = await readings.run(read, run)
  return { result, read: [...read.values()] }
}

function note(name: LimitName, limit: number, result: RateLimiterRes): void {
  const { seconds, told } = rules[name]
  if (!told) return
  const remaining = Math.max(0, result.remainingPoints)
  const resetSeconds = secondsLeft(result)
  readings.getStore()?.set(name, { name, limit, seconds, remaining, resetSeconds })
}

function secondsLeft({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000))
}

/** Gives points back that turned out not to count, such as the one of a successful login. */
export async function refund(
  deps: Pick<Deps, 'keys' | 'settings'>,
  name: LimitName,
  counted: Counted,
  points = 1
): Promise<void> {
  await limiter(deps, name).reward(pseudonym(deps, name, counted), points)
}

/** What counts as one address: all of an IPv6 /64 is one subscriber. `'2001:db8::1'` → `'2001:db8:0:0'` */
export function networkOf(address: string): string {
  const plain = (address.split('%', 1)[0] ?? '').toLowerCase()
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  // a trailing dotted quad stands for two groups
  const length = left.length + right.length + (plain.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array(8 - length).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return groups.map(group => Number.parseInt(group, 16).toString(16)).join(':')
}

/** Counters live as long as the settings they enforce: one set a process, a fresh one for each test. */
const counters = new WeakMap<Limits, Map<LimitName, RateLimiterMemory>>()

function limiter(deps: Pick<Deps, 'settings'>, name: LimitName): RateLimiterMemory {
  const { limits } = deps.settings
  const set = counters.get(limits) ?? new Map<LimitName, RateLimiterMemory>()
  counters.set(limits, set)
  const { points, seconds } = rules[name]
  const found =
    set.get(name) ?? new RateLimiterMemory({ points: points(limits), duration: seconds })
  set.set(name, found)
  return found
}

/** Addresses and e-mails do not lie about in memory. */
function pseudonym(deps: Pick<Deps, 'keys'>, name: LimitName, counted: Counted): string {
  const text = JSON.stringify([name, ...counted])
  return deps.keys.mac('pseudonym', text).subarray(0, 16).toString('base64url')
}

function rule(points: Rule['points'], seconds: number, code: ErrorCode = 'rate_limited'): Rule {
  return { points, seconds, code, told: false }
}

function told(rule: Rule): Rule {
  return { ...rule, told: true }
}
