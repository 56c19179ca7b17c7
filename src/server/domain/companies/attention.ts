import { sql } from 'kysely'
import type {
  AttentionItem,
  AttentionKind,
  AttentionOfAllCompanies,
  AttentionOfCompany,
  NearLimit
} from '../../../contract/overview.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { readLogProgress } from '../evidence/seals.ts'
import { findTrialLog } from '../evidence/trial-logs.ts'
import { type GroupQuota, readQuotasOfGroupsNearLimits } from '../limits/usage.ts'
import { listCompanyNames } from './companies.ts'
import { domainStateSql } from './domain-admin.ts'
import { hasProvedHost } from './domain-rows.ts'
import { countRecentFailedDeposits } from './usage-days.ts'

type AttentionDeps = Pick<Deps, 'db' | 'clock' | 'settings' | 'blobs' | 'log'>

// undefined if nothing needs attention
type Finding = Omit<AttentionItem, 'kind'> | undefined

// of a limit, from which on it needs attention
const nearShare = 0.8
// limits, and domains in each state, in a response
const mostNamed = 5
const mailDelayMs = 5 * 60_000
// from then on an error, no longer a warning
const mailFailureMs = 3_600_000
// no company's checks begin later
const allChecksMs = 2_000
const companiesAtOnce = 4

interface Check {
  kinds: readonly AttentionKind[]
  find: (tx: Tx, deps: AttentionDeps, now: Date) => Promise<AttentionItem[]>
}

const checks = [
  checkFor('log_frozen', findFrozenLog),
  checkFor('log_damaged', findDamagedLogs),
  checkFor('log_named_localhost', findLogNamedLocalhost),
  checkFor('deposits_held', findHeld),
  checkFor('group_limits', findNearLimits),
  checkFor('mails_delayed', findDelayedMails),
  checkFor('deposits_failed', findFailures),
  checkFor('no_administrator', findLackOfAdministrator),
  checkFor('people_waiting', findWaitingPeople),
  checkFor('invitations_expired', (...given) => findWithoutLink(...given, 'mailed')),
  checkFor('invitations_by_hand', (...given) => findWithoutLink(...given, 'handed out')),
  {
    kinds: ['domains_unverified', 'domains_failing', 'domains_quarantined', 'domains_taken'],
    find: findDomains
  }
] as const satisfies Check[]

type Findings = Pick<AttentionOfCompany, 'items' | 'unchecked'>

const severities = ['error', 'warning', 'info']

export async function collectAttention(
  deps: AttentionDeps,
  { company_id, isOperator }: { company_id: CompanyId; isOperator: boolean }
): Promise<AttentionOfCompany> {
  const company = await checkCompany(deps, company_id)
  const disk = isOperator ? await checkDisk(deps) : { items: [], unchecked: [] }
  return {
    checked: deps.clock().toISOString(),
    has_mail_server: deps.settings.mailServer,
    items: bySeverity([...company.items, ...disk.items]),
    unchecked: [...company.unchecked, ...disk.unchecked]
  }
}

export async function collectAttentionOfAllCompanies(
  deps: AttentionDeps
): Promise<AttentionOfAllCompanies> {
  const end = deps.clock().getTime() + allChecksMs
  const all = await listCompanyNames(deps)
  const waiting = [...all]
  const found = new Map<CompanyId, Findings>()
  async function checkWaiting(): Promise<void> {
    while (deps.clock().getTime() < end) {
      const company = waiting.shift()
      if (!company) return
      found.set(company.id, await checkCompany(deps, company.id))
    }
  }
  await Promise.all(Array.from({ length: companiesAtOnce }, checkWaiting))
  const companies = all.flatMap(company => {
    const { items = [], unchecked = [] } = found.get(company.id) ?? {}
    return items.length + unchecked.length > 0 ? [{ company, items, unchecked }] : []
  })
  return {
    checked: deps.clock().toISOString(),
    has_mail_server: deps.settings.mailServer,
    ...(await checkDisk(deps)),
    companies: companies.sort((a, b) => rankOf(a.items[0]) - rankOf(b.items[0])),
    skipped: waiting.length
  }
}

async function checkCompany(deps: AttentionDeps, company_id: CompanyId): Promise<Findings> {
  const now = deps.clock()
  try {
    const found = await inCompany(deps.db, company_id, async tx => {
      const items: AttentionItem[] = []
      for (const { find } of checks) items.push(...(await find(tx, deps, now)))
      return items
    })
    return { items: bySeverity(found), unchecked: [] }
  } catch {
    // an error ends the transaction, and with it the checks that work
    return runChecks(
      deps,
      company_id,
      checks.map(({ kinds, find }) => [
        kinds,
        () => inCompany(deps.db, company_id, tx => find(tx, deps, now))
      ])
    )
  }
}

function checkDisk(deps: AttentionDeps): Promise<Findings> {
  const kind = 'disk_nearly_full'
  const run = async () => itemsOf(kind, await findFullDisk(deps))
  return runChecks(deps, undefined, [[[kind], run]])
}

async function runChecks(
  deps: AttentionDeps,
  company: CompanyId | undefined,
  list: [kinds: readonly AttentionKind[], run: () => Promise<AttentionItem[]>][]
): Promise<Findings> {
  const items: AttentionItem[] = []
  const unchecked: AttentionKind[] = []
  for (const [kinds, run] of list) {
    try {
      items.push(...(await run()))
    } catch (error) {
      deps.log.error(
        { company, checks: kinds, err: error },
        'a check for what needs attention failed'
      )
      unchecked.push(...kinds)
    }
  }
  return { items: bySeverity(items), unchecked }
}

function checkFor(
  kind: AttentionKind,
  find: (tx: Tx, deps: AttentionDeps, now: Date) => Promise<Finding>
): Check {
  return { kinds: [kind], find: async (...given) => itemsOf(kind, await find(...given)) }
}

function itemsOf(kind: AttentionKind, found: Finding): AttentionItem[] {
  return found ? [{ kind, ...found }] : []
}

function bySeverity(items: AttentionItem[]): AttentionItem[] {
  return items.toSorted((a, b) => rankOf(a) - rankOf(b))
}

function rankOf(item: AttentionItem | undefined): number {
  return item ? severities.indexOf(item.severity) : severities.length
}

// 10 GB hold two documents of the largest size
export function isDiskNearlyFull({ total, free }: { total: number; free: number }): boolean {
  return free < total * 0.05 && free < 10_000_000_000
}

async function findFullDisk({ blobs }: AttentionDeps): Promise<Finding> {
  const space = await blobs.space()
  if (!isDiskNearlyFull(space)) return undefined
  const used = Math.round((1 - space.free / space.total) * 100)
  return { severity: 'error', count: used, since: null }
}

async function findFrozenLog(tx: Tx): Promise<Finding> {
  const progress = await readLogProgress(tx)
  return progress?.paused && { severity: 'error', count: 1, since: null }
}

async function findDamagedLogs(tx: Tx): Promise<Finding> {
  const damaged = await selectInCompany(tx, 'log_state')
    .where('fault', 'is not', null)
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirst()
  return damaged && finding({ ...damaged, since: null }, 'error')
}

async function findLogNamedLocalhost(tx: Tx): Promise<Finding> {
  const trial = await findTrialLog(tx)
  if (!trial) return undefined
  const { origin: log, domain } = trial
  const domains = [{ id: domain.id, host: domain.host }]
  return { severity: 'info', count: 1, since: null, log, domains }
}

const countAndOldest = (time: string) => [
  sql<number>`count(*)`.as('count'),
  sql<Date | null>`min(${sql.ref(time)})`.as('since')
]

async function findHeld(tx: Tx): Promise<Finding> {
  const held = await selectInCompany(tx, 'upload')
    .where('state', '=', 'held')
    .select(countAndOldest('held_at'))
    .executeTakeFirst()
  return finding(held, 'error')
}

async function findFailures(tx: Tx, _deps: AttentionDeps, now: Date): Promise<Finding> {
  const count = await countRecentFailedDeposits(tx, now)
  return finding({ count, since: null }, 'warning')
}

async function findDelayedMails(tx: Tx, _deps: AttentionDeps, now: Date): Promise<Finding> {
  const delayed = await selectInCompany(tx, 'mail')
    .where('created_at', '<', new Date(now.getTime() - mailDelayMs))
    .select(countAndOldest('created_at'))
    .executeTakeFirst()
  const age = now.getTime() - (delayed?.since ?? now).getTime()
  return finding(delayed, age > mailFailureMs ? 'error' : 'warning')
}

async function findWaitingPeople(tx: Tx, { settings }: AttentionDeps, now: Date): Promise<Finding> {
  const waiting = await selectInCompany(tx, 'signup')
    .where('expires_at', '>', now)
    .select(countAndOldest('created_at'))
    .executeTakeFirst()
  // without mails, nobody gets in by themselves
  return finding(waiting, settings.mailServer ? 'info' : 'warning')
}

// a company in which nobody ever had an account does not count, such as the demonstration
async function findLackOfAdministrator(tx: Tx): Promise<Finding> {
  const administrator = await selectInCompany(tx, 'user')
    .where(sql<boolean>`permissions <> '{}'`)
    .where('deleted_at', 'is', null)
    .where('state', 'in', ['active', 'invited'])
    .select('id')
    .limit(1)
    .executeTakeFirst()
  if (administrator) return undefined
  const person = await selectInCompany(tx, 'user').select('id').limit(1).executeTakeFirst()
  return person && { severity: 'warning', count: 1, since: null }
}

// for the kind of link that this installation gives to invited people
async function findWithoutLink(
  tx: Tx,
  { settings }: AttentionDeps,
  now: Date,
  kind: 'mailed' | 'handed out'
): Promise<Finding> {
  if (settings.mailServer !== (kind === 'mailed')) return undefined
  // links would have no target
  if (!(await hasProvedHost(tx))) return undefined
  const link = sql<boolean>`exists (
    select from mail_token
     where mail_token.company_id = "user".company_id and subject = "user".id and expires_at > ${now}
       and (handed_out or ${kind === 'mailed'}::boolean))`
  const queued = sql<boolean>`exists (
    select from mail where mail.company_id = "user".company_id and subject = "user".id)`
  const found = await selectInCompany(tx, 'user')
    .where('user.deleted_at', 'is', null)
    .where('user.state', '=', 'invited')
    .where(({ not, or }) => not(kind === 'mailed' ? or([link, queued]) : link))
    .select(countAndOldest('user.invited_at'))
    .executeTakeFirst()
  return finding(found, 'warning')
}

const domainSeverities = {
  unverified: 'info',
  failing: 'warning',
  quarantined: 'error',
  taken: 'warning'
} as const

async function findDomains(tx: Tx): Promise<AttentionItem[]> {
  const { rows } = await sql<{
    state: keyof typeof domainSeverities
    count: number
    since: Date | null
    domains: { id: string; host: string }[]
  }>`
    select state, count(*) as count, min(since) as since,
           to_jsonb((array_agg(jsonb_build_object('id', id, 'host', host) order by since, host))
             [1:${sql.lit(mostNamed)}]) as domains
      from (
        select id, host, ${domainStateSql} as state,
               case when verified_at is not null then failing_since
                    when quarantined_at is not null then quarantined_at
                    else created_at end as since
          from domain
         where company_id = ${tx.companyId} and (verified_at is null or failing_since is not null)
      ) domain
     group by state order by state`.execute(tx)
  return rows.map(({ state, since, ...found }) => ({
    kind: `domains_${state}` as const,
    severity: domainSeverities[state],
    // nobody notes when another company has proved the host
    since: state === 'taken' ? null : (since?.toISOString() ?? null),
    ...found
  }))
}

async function findNearLimits(tx: Tx, _deps: AttentionDeps, now: Date): Promise<Finding> {
  const query = { company_id: tx.companyId, now, share: nearShare }
  const quotas = await readQuotasOfGroupsNearLimits(tx, query)
  const near = quotas
    .flatMap(limitsOf)
    .filter(({ share }) => share >= nearShare)
    .sort((a, b) => b.share - a.share)
  const [first] = near
  if (!first) return undefined
  const named = near.slice(0, mostNamed)
  const groups = await selectInCompany(tx, 'group')
    .where(sql<boolean>`id = any (${named.map(({ group_id }) => group_id)}::uuid[])`)
    .select(['id', 'name'])
    .execute()
  const limits = named.flatMap(({ group_id, limited, used, limit, resets_at }): NearLimit[] => {
    const group = groups.find(({ id }) => id === group_id)
    return group
      ? [{ group, limited, used, limit, resets_at: resets_at?.toISOString() ?? null }]
      : []
  })
  return {
    severity: first.share >= 1 ? 'error' : 'warning',
    count: near.length,
    since: null,
    limits
  }
}

function limitsOf({ group_id, resets_at, ...quota }: GroupQuota) {
  const { max_requests, max_storage, requestsTaken, bytesTaken } = quota
  const requests = { limited: 'requests' as const, used: requestsTaken, limit: max_requests }
  const storage = { limited: 'storage' as const, used: bytesTaken, limit: max_storage }
  const limits = [
    { group_id, ...requests, resets_at },
    { group_id, ...storage, resets_at: null }
  ]
  // a limit of 0 is no accident: the group may not use any
  return limits.flatMap(({ limit, ...rest }) =>
    limit ? [{ ...rest, limit, share: rest.used / limit }] : []
  )
}

function finding(
  found: { count: number; since: Date | null } | undefined,
  severity: AttentionItem['severity']
): Finding {
  if (!found || found.count === 0) return undefined
  return { severity, count: found.count, since: found.since?.toISOString() ?? null }
}
