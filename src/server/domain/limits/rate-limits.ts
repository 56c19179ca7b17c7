import { AsyncLocalStorage } from 'node:async_hooks'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError, type ErrorCode } from '../../../contract/kit/errors.ts'
import type { Deps, Tenant, TrafficLimitSettings } from '../deps.ts'
import { networksOfAddress } from '../ip-addresses.ts'

/**
 * What remains of a rate limit after a call, for the response headers. `seconds` is the length of
 * the limit's period. `resetSeconds` is the time until the period ends and the counter is reset.
 */
export interface RateLimitStatus {
  name: string
  limit: number
  seconds: number
  remaining: number
  resetSeconds: number
}

interface Rule {
  points: (limits: TrafficLimitSettings) => number
  seconds: number
  code: ErrorCode
  /**
   * Whether the response headers tell the caller what remains of the limit. False for limits per
   * e-mail or company, because calls of other people count toward them too. Also false for limits
   * on guesses: wrong passwords, mailed links and setup codes.
   */
  isReported: boolean
}

const minute = 60
const hour = 3600
const day = 86_400

const rules = {
  /** Logins, and requests for a challenge of any purpose, per network address. */
  sign_in_address: reported(rule(limits => limits.signInPerAddressMinute, minute)),
  /** Attempts to create an account, per network address. */
  sign_up_address: reported(rule(limits => limits.signUpPerAddressHour, hour)),
  /** Calls from a network address that request a mail, such as a mail to reset a password. */
  mail_address: reported(rule(limits => limits.mailsPerAddressHour, hour)),
  /**
   * Mails that are requested for one e-mail address, apart from password resets. They are counted
   * whether or not the address belongs to an account.
   */
  mail_email: rule(() => 3, hour),
  /**
   * Password resets that are requested for one e-mail address, per network address. Requests from
   * other network addresses have counters of their own, so they cannot use up the owner's limit.
   */
  reset_email: rule(() => 3, hour),
  /**
   * Mails that are requested in one company in a day. The limit is three quarters of the configured
   * one. When it is used up, only networks that request their first mail of the day may continue,
   * up to `mail_newcomers_day`.
   */
  mail_company_day: rule(limits => commonPart(limits.mailsPerCompanyDay), day),
  /**
   * Mails that are requested in one company in a day, after `mail_company_day` is used up. The
   * limit is the remaining quarter of the configured one. This quarter is reserved for networks
   * that request their first mail of the day.
   */
  mail_newcomers_day: rule(limits => reservedPart(limits.mailsPerCompanyDay), day),
  /**
   * Mails that are requested from a network address in a day. This counter limits nothing: it only
   * shows whether a network requests its first mail of the day.
   */
  mail_seen_day: rule(() => Number.MAX_SAFE_INTEGER, day),
  /** Failed attempts to use a mailed link, per network address. */
  mail_token_address: rule(limits => limits.mailTokensPerAddress, 15 * minute),
  /**
   * Failed logins with one e-mail, per network address, whether or not the e-mail has an account.
   */
  login_address: rule(() => 10, 15 * minute),
  /** Failed logins with one e-mail, from all network addresses together. */
  login_email: rule(() => 100, hour),
  /**
   * Failed logins with one e-mail, in a browser in which the owner of the e-mail has signed in
   * before. Each such browser has its own counter, so failures elsewhere do not block the owner.
   */
  login_device: rule(() => 10, 15 * minute),
  /**
   * Failed attempts of a signed-in person to enter their current password again, for example to
   * change the e-mail. The limit keeps somebody with a stolen session from guessing the password.
   */
  rekey_user: rule(() => 10, 15 * minute),
  /**
   * Wrong API keys, per network address. Nobody can guess a key, but a program with an outdated key
   * could overload the service. Calls with a valid key are not counted.
   */
  wrong_key_address: rule(() => 60, minute),
  /** Wrong setup codes, per network address. */
  setup_address: rule(() => 10, hour),
  /** Fingerprints that signed-out people verify in a minute, per network address. */
  verify_address_minute: reported(
    rule(limits => limits.verifyPerAddressMinute, minute, 'lookup_limited')
  ),
  /** Fingerprints that signed-out people verify in a day, per network address. */
  verify_address_day: reported(rule(limits => limits.verifyPerAddressDay, day, 'lookup_limited')),
  /**
   * Fingerprints that all signed-out people together verify at one company in a day. The limit is
   * three quarters of the configured one. When it is used up, only networks that verify for the
   * first time that day may continue: see `verify_newcomers_day`.
   */
  verify_company_day: rule(limits => commonPart(limits.verifyPerCompanyDay), day, 'lookup_limited'),
  /**
   * Fingerprints that all signed-out people together verify at one company in a day, after
   * `verify_company_day` is used up. The limit is the remaining quarter of the configured one. This
   * quarter is reserved for networks that verify for the first time that day.
   */
  verify_newcomers_day: rule(
    limits => reservedPart(limits.verifyPerCompanyDay),
    day,
    'lookup_limited'
  ),
  /** Fingerprints that a signed-in person verifies in a minute. */
  verify_user_minute: reported(
    rule(limits => limits.verifyPerUserMinute, minute, 'lookup_limited')
  ),
  /** DNS queries for the record that proves a domain, per domain. */
  domain_check: rule(() => 60, minute),
  /**
   * Calls other than `GET` that are made without signing in, per network address, at all companies
   * together. They are counted before the body is read.
   */
  public_address: reported(rule(limits => limits.publicPerAddressMinute, minute)),
  /** Browsers' reports of violations of our content security policy, per network address. */
  csp_report_address: reported(rule(limits => limits.reportsPerAddressMinute, minute))
} satisfies Record<string, Rule>

export type RateLimitName = keyof typeof rules

/**
 * The key of a rate limit's counter. The first part is the id of a company, or a fixed word for a
 * counter that all companies share. The other parts are, for most limits, an e-mail, a person, a
 * browser or a network address.
 */
export type RateLimitKey = readonly [
  companyOrFixedWord: string,
  ...parts: (string | { address: string })[]
]

/**
 * The factors by which a rate limit is multiplied for the IPv6 networks /64, /56 and /48 of an
 * address. For example, all addresses of a /48 network together may use 16 times the limit. For an
 * IPv4 address, only the first factor is used.
 */
const tierFactors = [1, 4, 16]

/**
 * Counts `points` toward the limit `name`. Throws `rate_limited` or `lookup_limited`, depending on
 * the limit, when the limit is exceeded. The error says after how many seconds a call may succeed.
 * The points stay counted. If `points` is higher than the whole limit, only as many as the limit
 * are counted. Such a call can therefore succeed if nothing was counted before in the period. An
 * IPv6 address is counted in its networks /64, /56 and /48, each of which has its own limit
 * (`tierFactors`). The returned `isFirst` is true if nothing was counted before in the current
 * period. For an IPv6 address, `isFirst` refers to its /48 network.
 */
export async function consumeRateLimit(
  deps: Pick<Deps, 'keys' | 'settings' | 'counters'>,
  name: RateLimitName,
  counted: RateLimitKey,
  points = 1
): Promise<{ isFirst: boolean }> {
  let isFirst = true
  for (const [tier, key] of tiersOf(counted).entries()) {
    isFirst = await consumeTier(deps, name, { tier, key }, points)
  }
  return { isFirst }
}

async function consumeTier(
  deps: Pick<Deps, 'keys' | 'settings' | 'counters'>,
  name: RateLimitName,
  { tier, key }: { tier: number; key: string[] },
  points: number
): Promise<boolean> {
  const limit = limitOf(deps.settings.limits, name, tier)
  const taken = Math.min(points, limit)
  try {
    const result = await limiter(deps, name, tier).consume(pseudonym(deps, name, key), taken)
    recordStatus(name, limit, result)
    return result.consumedPoints <= taken
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal
    recordStatus(name, limit, refusal)
    const retryAfter = secondsLeft(refusal)
    // not from `deps.clock`, because the counters use the clock of the process
    const resets_at = new Date(Date.now() + retryAfter * 1000).toISOString()
    throw new AppError(rules[name].code, `The limit ${name} is reached`, {
      retryAfter,
      figures: { used: Math.min(limit, refusal.consumedPoints), limit, resets_at }
    })
  }
}

/**
 * Counts `points` toward a company's daily limit of requested mails, or of verifications by
 * signed-out people. A quarter of the limit is reserved for networks that call for the first time
 * that day (`isFirst`), so that a few networks cannot use up the whole limit.
 */
export async function consumeMailOrVerifyDayLimit(
  deps: Pick<Deps, 'keys' | 'settings' | 'counters'>,
  what: 'mail' | 'verify',
  { company_id, isFirst }: { company_id: string; isFirst: boolean },
  points = 1
): Promise<void> {
  try {
    await consumeRateLimit(deps, `${what}_company_day`, [company_id], points)
  } catch (refusal) {
    if (!isFirst) throw refusal
    await consumeRateLimit(deps, `${what}_newcomers_day`, [company_id], points)
  }
}

/**
 * Counts a requested mail toward the limits of the network address, the e-mail and the company,
 * whether or not the e-mail has an account.
 */
export async function consumeMailLimits(
  deps: Pick<Deps, 'keys' | 'settings' | 'counters'>,
  { tenant, email, address }: { tenant: Tenant; email: string; address: string },
  kind: 'reset' | 'other' = 'other'
): Promise<void> {
  const { company_id } = tenant
  await consumeRateLimit(deps, 'mail_address', [company_id, { address }])
  if (kind === 'reset')
    await consumeRateLimit(deps, 'reset_email', [company_id, email, { address }])
  else await consumeRateLimit(deps, 'mail_email', [company_id, email])
  const { isFirst } = await consumeRateLimit(deps, 'mail_seen_day', [company_id, { address }])
  await consumeMailOrVerifyDayLimit(deps, 'mail', { company_id, isFirst })
}

/**
 * Runs `run`, which uses a mailed token, and returns its result. If `run` throws, counts the
 * failure toward the limit of the network address. If that limit is already reached, throws
 * `rate_limited` and does not call `run`.
 */
export async function runWithMailTokenFailureLimit<T>(
  deps: Pick<Deps, 'keys' | 'settings' | 'counters'>,
  { tenant, address }: { tenant: Tenant; address: string },
  run: () => Promise<T>
): Promise<T> {
  const counted = [tenant.company_id, { address }] as const
  await consumeRateLimit(deps, 'mail_token_address', counted)
  const result = await run()
  await refundRateLimit(deps, 'mail_token_address', counted)
  return result
}

const collectedStatuses = new AsyncLocalStorage<Map<string, RateLimitStatus>>()

/**
 * Runs `run`. Returns its result and the statuses of the rate limits that counted the call, for the
 * response headers. Limits that are not reported to callers are left out.
 */
export async function runAndCollectRateLimitStatuses<T>(
  run: () => Promise<T>
): Promise<{ result: T; statuses: RateLimitStatus[] }> {
  const statuses = new Map<string, RateLimitStatus>()
  const result = await collectedStatuses.run(statuses, run)
  return { result, statuses: [...statuses.values()] }
}

function recordStatus(name: RateLimitName, limit: number, result: RateLimiterRes): void {
  const { seconds, isReported } = rules[name]
  if (!isReported) return
  const remaining = Math.max(0, result.remainingPoints)
  const resetSeconds = secondsLeft(result)
  const statuses = collectedStatuses.getStore()
  // report the network with the fewest points left
  if (remaining > (statuses?.get(name)?.remaining ?? remaining)) return
  statuses?.set(name, { name, limit, seconds, remaining, resetSeconds })
}

function secondsLeft({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000))
}

/** Gives back a point that `consumeRateLimit` has counted, such as that of a successful login. */
export async function refundRateLimit(
  deps: Pick<Deps, 'keys' | 'settings' | 'counters'>,
  name: RateLimitName,
  counted: RateLimitKey
): Promise<void> {
  for (const [tier, key] of tiersOf(counted).entries()) {
    await limiter(deps, name, tier).reward(pseudonym(deps, name, key))
  }
}

/**
 * Returns the keys of the counters that belong to a rate limit key. If the rate limit key contains
 * an address, returns one key for each network of the address, smallest network first. In these
 * keys, the network replaces the address. Otherwise returns one key.
 */
function tiersOf(counted: RateLimitKey): string[][] {
  const address = counted.find(part => typeof part === 'object')?.address
  const networks = address === undefined ? [''] : networksOfAddress(address)
  return networks.map(network => counted.map(part => (typeof part === 'string' ? part : network)))
}

function limitOf(limits: TrafficLimitSettings, name: RateLimitName, tier: number): number {
  return rules[name].points(limits) * (tierFactors[tier] ?? 1)
}

/**
 * Returns the quarter of a daily limit that is reserved for networks that call for the first time
 * that day.
 */
function reservedPart(points: number): number {
  return Math.floor(points / 4)
}

function commonPart(points: number): number {
  return points - reservedPart(points)
}

function limiter(
  { counters, settings }: Pick<Deps, 'counters' | 'settings'>,
  name: RateLimitName,
  tier: number
): RateLimiterMemory {
  const points = limitOf(settings.limits, name, tier)
  const key = `${name} ${tier} ${points}`
  const found =
    counters.get(key) ?? new RateLimiterMemory({ points, duration: rules[name].seconds })
  counters.set(key, found)
  return found
}

/**
 * Returns a keyed hash of a counter's key, so that no network address and no e-mail stays in
 * memory.
 */
function pseudonym(deps: Pick<Deps, 'keys'>, name: RateLimitName, key: string[]): string {
  const text = JSON.stringify([name, ...key])
  return deps.keys.mac('pseudonym', text).subarray(0, 16).toString('base64url')
}

function rule(points: Rule['points'], seconds: number, code: ErrorCode = 'rate_limited'): Rule {
  return { points, seconds, code, isReported: false }
}

function reported(rule: Rule): Rule {
  return { ...rule, isReported: true }
}
