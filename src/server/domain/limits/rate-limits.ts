import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError, type ErrorCode } from '../../../contract/kit/errors.ts'
import type { Deps, RateCount, RateSum, Tenant, TrafficLimitSettings } from '../deps.ts'
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
  // on which the first call of a network that day may draw when this limit is reached
  reserve?: 'mail_newcomers_day' | 'verify_newcomers_day'
}

const minute = 60
const hour = 3600
const day = 86_400

// counted in the database, so that several processes together allow no more than one
const sharedRules = {
  // logins, and challenges of any purpose
  sign_in_address: reported(rule(limits => limits.signInPerAddressMinute, minute)),
  sign_up_address: reported(rule(limits => limits.signUpPerAddressHour, hour)),
  mail_address: reported(rule(limits => limits.mailsPerAddressHour, hour)),
  // whether or not the address has an account
  mail_email: rule(() => 3, hour),
  // by e-mail and network, so that strangers cannot use up the owner's limit
  reset_email: rule(() => 3, hour),
  // three quarters of the configured limit; the rest is for networks that call for the first time
  // that day, so that a few cannot use up the whole
  mail_company_day: {
    ...rule(limits => commonPart(limits.mailsPerCompanyDay), day),
    reserve: 'mail_newcomers_day'
  },
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
  verify_company_day: {
    ...rule(limits => commonPart(limits.verifyPerCompanyDay), day, 'lookup_limited'),
    reserve: 'verify_newcomers_day'
  },
  verify_newcomers_day: rule(
    limits => reservedPart(limits.verifyPerCompanyDay),
    day,
    'lookup_limited'
  ),
  verify_user_minute: reported(rule(limits => limits.verifyPerUserMinute, minute, 'lookup_limited'))
} satisfies Record<string, Rule>

// counted in each process, so that a flood costs the database nothing
const floodRules = {
  domain_check: rule(() => 60, minute),
  // without signing in, at all companies together, counted before the body is read
  public_address: reported(rule(limits => limits.publicPerAddressMinute, minute)),
  csp_report_address: reported(rule(limits => limits.reportsPerAddressMinute, minute))
} satisfies Record<string, Rule>

export type RateLimitName = keyof typeof sharedRules
type FloodLimitName = keyof typeof floodRules

const rules: Record<RateLimitName | FloodLimitName, Rule> = { ...sharedRules, ...floodRules }

/** The first part is a company's id, or a fixed word for a counter that all companies share. */
export type RateLimitKey = readonly [
  companyOrFixedWord: string,
  ...parts: (string | { address: string })[]
]

// for the networks /64, /56 and /48 of an IPv6 address; IPv4 has only the first
const tierFactors = [1, 4, 16]

type RateLimitDeps = Pick<Deps, 'keys' | 'settings' | 'clock' | 'counters'>

/**
 * Throws the rule's code when the limit is exceeded; the points stay counted. More `points` than
 * the whole limit count as the limit, so that such a call can succeed.
 */
export function consumeRateLimit(
  deps: RateLimitDeps,
  name: RateLimitName,
  counted: RateLimitKey,
  points = 1
): Promise<void> {
  return consumeRateLimits(deps, [[name, counted]], { points })
}

/**
 * Counts one limit after the other, up to the first that is exceeded. Is called outside of
 * transactions, so that none holds the row of a company's day while others wait for it.
 */
export async function consumeRateLimits(
  deps: RateLimitDeps,
  limits: readonly (readonly [RateLimitName, RateLimitKey])[],
  { points = 1 }: { points?: number } = {}
): Promise<void> {
  const counts = limits.flatMap(([name, key]) => countsOf(deps, name, key, points))
  const sums = await deps.counters.add(counts)
  for (const [index, sum] of sums.entries()) {
    recordStatus(sum)
    if (sum.points <= sum.count.limit) continue
    const before = sums[index - 1]
    const isFirst = before !== undefined && before.points <= before.count.points
    const { reserve } = sum.count
    if (!reserve || !isFirst) throw reachedLimit(deps, sum)
    await consumeRateLimits(deps, [reserve], { points })
  }
}

/** For limits of floods. */
export async function consumeFloodLimit(
  deps: RateLimitDeps,
  name: FloodLimitName,
  counted: RateLimitKey
): Promise<void> {
  for (const count of countsOf(deps, name, counted, 1)) {
    const sum = await deps.counters.addInProcess(count)
    recordStatus(sum)
    if (sum.points > count.limit) throw reachedLimit(deps, sum)
  }
}

/** Counts whether or not the e-mail has an account. */
export async function consumeMailLimits(
  deps: RateLimitDeps,
  { tenant, email, address }: { tenant: Tenant; email: string; address: string },
  { kind = 'other' }: { kind?: 'reset' | 'other' } = {}
): Promise<void> {
  const { company_id } = tenant
  await consumeRateLimits(deps, [
    ['mail_address', [company_id, { address }]],
    kind === 'reset'
      ? ['reset_email', [company_id, email, { address }]]
      : ['mail_email', [company_id, email]],
    ['mail_seen_day', [company_id, { address }]],
    ['mail_company_day', [company_id]]
  ])
}

/**
 * Counts a failure of `run` toward the limits. Throws without calling it when one is reached.
 * Parallel calls are counted before they are judged. If the database fails after `run`, a success
 * stays counted.
 */
export async function runWithFailureLimits<T>(
  deps: RateLimitDeps & Pick<Deps, 'log'>,
  limits: readonly (readonly [RateLimitName, RateLimitKey])[],
  run: () => Promise<T>,
  isFailure: (error: unknown) => boolean = () => true
): Promise<T> {
  await consumeRateLimits(deps, limits)
  let hasFailed = false
  try {
    return await run()
  } catch (error) {
    hasFailed = isFailure(error)
    throw error
  } finally {
    if (!hasFailed) await takeBack(deps, limits)
  }
}

// throws nothing, because what ran before cannot be repeated
async function takeBack(
  deps: RateLimitDeps & Pick<Deps, 'log'>,
  limits: readonly (readonly [RateLimitName, RateLimitKey])[]
): Promise<void> {
  const counts = limits.flatMap(([name, key]) => countsOf(deps, name, key, 1))
  try {
    await deps.counters.takeBack(counts.map(({ counter }) => counter))
  } catch (error) {
    const names = limits.map(([name]) => name)
    deps.log.warn({ limits: names, err: error }, 'a call without a failure stays counted as one')
  }
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

type Sum = RateSum<NamedCount>

function recordStatus({ count, points, msLeft }: Sum): void {
  const { name, limit, seconds } = count
  if (!rules[name].isReported) return
  const remaining = Math.max(0, limit - points)
  const statuses = collectedStatuses.getStore()
  // report the network with the fewest points left
  if (remaining > (statuses?.get(name)?.remaining ?? remaining)) return
  statuses?.set(name, { name, limit, seconds, remaining, resetSeconds: secondsOf(msLeft) })
}

function reachedLimit({ clock }: Pick<Deps, 'clock'>, { count, points, msLeft }: Sum): AppError {
  const { name, limit } = count
  const retryAfter = secondsOf(msLeft)
  const resets_at = new Date(clock().getTime() + retryAfter * 1000).toISOString()
  return new AppError(rules[name].code, `The limit ${name} is reached`, {
    retryAfter,
    figures: { used: Math.min(limit, points), limit, resets_at }
  })
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}

interface NamedCount extends RateCount {
  name: RateLimitName | FloodLimitName
  reserve?: readonly [RateLimitName, RateLimitKey]
}

// one for each network of the address, smallest first
function countsOf(
  deps: Pick<Deps, 'keys' | 'settings'>,
  name: RateLimitName | FloodLimitName,
  counted: RateLimitKey,
  points: number
): NamedCount[] {
  const { seconds, reserve, points: pointsOf }: Rule = rules[name]
  const address = counted.find(part => typeof part === 'object')?.address
  const networks = address === undefined ? [''] : networksOfAddress(address)
  return networks.map((network, tier) => {
    const limit = pointsOf(deps.settings.limits) * (tierFactors[tier] ?? 1)
    // so that neither a network address nor an e-mail is stored
    const key = counted.map(part => (typeof part === 'string' ? part : network))
    const counter = deps.keys.mac('pseudonym', JSON.stringify([name, ...key])).subarray(0, 16)
    const taken = Math.min(points, limit)
    const [companyOrFixedWord] = counted
    return {
      name,
      counter,
      points: taken,
      limit,
      seconds,
      ...(reserve && { reserve: [reserve, [companyOrFixedWord]] as const })
    }
  })
}

function reservedPart(points: number): number {
  return Math.floor(points / 4)
}

function commonPart(points: number): number {
  return points - reservedPart(points)
}

function rule(points: Rule['points'], seconds: number, code: ErrorCode = 'rate_limited'): Rule {
  return { points, seconds, code, isReported: false }
}

function reported(rule: Rule): Rule {
  return { ...rule, isReported: true }
}
