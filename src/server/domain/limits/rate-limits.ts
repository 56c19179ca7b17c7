import { AsyncLocalStorage } from 'node:async_hooks'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError, type ErrorCode } from '../../../contract/kit/errors.ts'
import type { Deps, Tenant, TrafficLimitSettings } from '../deps.ts'
import { networksOfAddress } from '../ip-addresses.ts'

/** `seconds` is the length of the limit's period, `resetSeconds` what is left of it. */
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
  // not for limits per e-mail or company, toward which calls of others count, nor for limits on
  // guesses
  isReported: boolean
}

const minute = 60
const hour = 3600
const day = 86_400

const rules = {
  // logins, and challenges of any purpose
  sign_in_address: reported(rule(limits => limits.signInPerAddressMinute, minute)),
  sign_up_address: reported(rule(limits => limits.signUpPerAddressHour, hour)),
  mail_address: reported(rule(limits => limits.mailsPerAddressHour, hour)),
  // whether or not the address has an account
  mail_email: rule(() => 3, hour),
  // by e-mail and network, so that strangers cannot use up the owner's limit
  reset_email: rule(() => 3, hour),
  // three quarters of the configured limit; the rest is for networks that call for the first time
  // that day
  mail_company_day: rule(limits => commonPart(limits.mailsPerCompanyDay), day),
  mail_newcomers_day: rule(limits => reservedPart(limits.mailsPerCompanyDay), day),
  // limits nothing: it shows whether a network requests its first mail of the day
  mail_seen_day: rule(() => Number.MAX_SAFE_INTEGER, day),
  // failed attempts to use a mailed link
  mail_token_address: rule(limits => limits.mailTokensPerAddress, 15 * minute),
  // failed logins with one e-mail, whether or not it has an account
  login_address: rule(() => 10, 15 * minute),
  login_email: rule(() => 100, hour),
  // in a browser in which the owner has signed in before, so that failures elsewhere do not block
  // the owner
  login_device: rule(() => 10, 15 * minute),
  // keeps somebody with a stolen session from guessing the password
  rekey_user: rule(() => 10, 15 * minute),
  // nobody can guess a key, but a program with an outdated one could overload the service
  wrong_key_address: rule(() => 60, minute),
  setup_address: rule(() => 10, hour),
  // fingerprints, as in all limits of verifications
  verify_address_minute: reported(
    rule(limits => limits.verifyPerAddressMinute, minute, 'lookup_limited')
  ),
  verify_address_day: reported(rule(limits => limits.verifyPerAddressDay, day, 'lookup_limited')),
  verify_company_day: rule(limits => commonPart(limits.verifyPerCompanyDay), day, 'lookup_limited'),
  verify_newcomers_day: rule(
    limits => reservedPart(limits.verifyPerCompanyDay),
    day,
    'lookup_limited'
  ),
  verify_user_minute: reported(
    rule(limits => limits.verifyPerUserMinute, minute, 'lookup_limited')
  ),
  domain_check: rule(() => 60, minute),
  // without signing in, at all companies together, counted before the body is read
  public_address: reported(rule(limits => limits.publicPerAddressMinute, minute)),
  csp_report_address: reported(rule(limits => limits.reportsPerAddressMinute, minute))
} satisfies Record<string, Rule>

export type RateLimitName = keyof typeof rules

/** The first part is a company's id, or a fixed word for a counter that all companies share. */
export type RateLimitKey = readonly [
  companyOrFixedWord: string,
  ...parts: (string | { address: string })[]
]

// for the networks /64, /56 and /48 of an IPv6 address; IPv4 has only the first
const tierFactors = [1, 4, 16]

/**
 * Throws the rule's code when the limit is exceeded; the points stay counted. More `points` than
 * the whole limit count as the limit, so that such a call can succeed. `isFirst`: nothing was
 * counted before in the period, for IPv6 in the /48.
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
 * A quarter of the limit is reserved for networks that call for the first time that day, so that a
 * few cannot use up the whole.
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

/** Counts whether or not the e-mail has an account. */
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
 * Counts a failure of `run` toward the limit of the network. Throws without calling it when the
 * limit is reached.
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

/** Leaves out limits that are not reported to callers. */
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

/** Gives back one counted point, such as that of a successful login. */
export async function refundRateLimit(
  deps: Pick<Deps, 'keys' | 'settings' | 'counters'>,
  name: RateLimitName,
  counted: RateLimitKey
): Promise<void> {
  for (const [tier, key] of tiersOf(counted).entries()) {
    await limiter(deps, name, tier).reward(pseudonym(deps, name, key))
  }
}

// one key for each network of the address, smallest first
function tiersOf(counted: RateLimitKey): string[][] {
  const address = counted.find(part => typeof part === 'object')?.address
  const networks = address === undefined ? [''] : networksOfAddress(address)
  return networks.map(network => counted.map(part => (typeof part === 'string' ? part : network)))
}

function limitOf(limits: TrafficLimitSettings, name: RateLimitName, tier: number): number {
  return rules[name].points(limits) * (tierFactors[tier] ?? 1)
}

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

// so that no network address and no e-mail stays in memory
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
