import type { DomainDetails } from '../../../contract/domains.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { selectById, selectInCompany, updateById } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { queueWaitingInvitations } from '../accounts/invitations.ts'
import { addAuditEntry, serviceActor } from '../audit/audit-entries.ts'
import { proofRecordName, readDomain } from '../companies/domain-admin.ts'
import {
  type DomainCall,
  isHostProvedByAnyCompany,
  lockDomainRow
} from '../companies/domain-rows.ts'
import { isLocalhost } from '../companies/host-names.ts'
import type { CompanyId, Deps, DnsAnswer } from '../deps.ts'
import { consumeFloodLimit } from '../limits/rate-limits.ts'
import {
  restoreHostsUnderWildcard,
  startDnsDeadlinesUnderWildcard,
  withHostTakenError
} from './domain-claims.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// how long a verified domain without its record is still served
const graceMs = 7 * dayMs
const checkedAtOnce = 20

type CheckDeps = Pick<
  Deps,
  'db' | 'dns' | 'keys' | 'random' | 'clock' | 'signals' | 'settings' | 'counters' | 'log'
>

export async function checkDomain(
  deps: CheckDeps,
  { company_id, by, id }: DomainCall
): Promise<DomainDetails> {
  await consumeFloodLimit(deps, 'domain_check', [company_id, id])
  const domain = await inCompany(deps.db, company_id, tx => readDomain(tx, id))
  const addresses = readHostAddresses(deps, domain.host)
  if (domain.proof === null) return { ...domain, ...(await addresses) }
  const answer = await ask(deps, domain.host)
  const answered = { id, token: domain.proof.value, answer, by }
  const checked = await storeAnswer(() =>
    inCompany(deps.db, company_id, async tx => {
      await applyAnswer(tx, deps, answered)
      return readDomain(tx, id)
    })
  )
  return { ...checked, ...(await addresses) }
}

async function readHostAddresses(
  { dns }: Pick<Deps, 'dns'>,
  host: string
): Promise<Pick<DomainDetails, 'addresses'>> {
  if (!dns || isLocalhost(host)) return {}
  // a wildcard record answers for any label
  const name = host.replace('*', 'any')
  const [pages, api] = await Promise.all([
    dns.readAddresses(name),
    dns.readAddresses(`api.${name}`)
  ])
  return pages && api ? { addresses: { pages, api } } : {}
}

/**
 * Checks domains that were last checked more than a day ago. Returns whether there may be more of
 * them.
 */
export async function recheckDueDomains(deps: CheckDeps, company_id: CompanyId): Promise<boolean> {
  if (deps.dns === undefined) return false
  const before = new Date(deps.clock().getTime() - dayMs)
  const due = await inCompany(deps.db, company_id, tx =>
    selectInCompany(tx, 'domain')
      .where('proof_token', 'is not', null)
      .where(on => on.or([on('verified_at', 'is not', null), on('quarantined_at', 'is not', null)]))
      .where('checked_at', '<=', before)
      .select(['id', 'host', 'proof_token'])
      .orderBy('checked_at')
      .limit(checkedAtOnce)
      .execute()
  )
  for (const { id, host, proof_token: token } of due) {
    const answer = await ask(deps, host)
    await storeAnswer(() =>
      inCompany(deps.db, company_id, async tx => {
        const isThere = await selectById(tx, 'domain', id).select('id').executeTakeFirst()
        if (isThere) await applyAnswer(tx, deps, { id, token, answer })
      })
    )
  }
  return due.length === checkedAtOnce
}

// if another company proves the host at the same time, the database refuses; the second call sees
// that the host is taken
async function storeAnswer<T>(store: () => Promise<T>): Promise<T> {
  try {
    return await withHostTakenError(store)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'host_taken') throw error
    return store()
  }
}

async function ask({ dns }: Pick<Deps, 'dns'>, host: string): Promise<DnsAnswer> {
  // an installation without DNS checks believes its administrators
  return dns ? dns.readTxt(proofRecordName(host)) : { outcome: 'found', values: [] }
}

interface Answered {
  id: string
  // expected when DNS was asked
  token: string | null | undefined
  answer: DnsAnswer
  // undefined for the daily check
  by?: DomainCall['by']
}

async function applyAnswer(
  tx: Tx,
  deps: CheckDeps,
  { id, token, answer, by }: Answered
): Promise<void> {
  const found = await lockDomainRow(tx, id)
  // the domain has another proof since
  if (found.proof_token !== token) return
  const now = deps.clock()
  const hasRecord =
    answer.outcome === 'found' &&
    (deps.dns === undefined || answer.values.some(value => unquoted(value) === token))
  const outcome = answer.outcome === 'found' && !hasRecord ? 'other_value' : answer.outcome
  // a failure of the asked servers says nothing about the record
  const isMissing = ['no_name', 'no_record', 'other_value'].includes(outcome)
  const isServed = found.verified_at !== null
  // of several companies with a record, the first that proved the host keeps it
  const isProved = hasRecord && (isServed || !(await isHostProvedByAnyCompany(tx, found.host)))
  const failing_since = hasRecord
    ? null
    : (found.failing_since ?? (isServed && isMissing ? now : null))
  const isOver =
    isServed &&
    isMissing &&
    failing_since !== null &&
    now.getTime() - failing_since.getTime() >= graceMs
  await updateById(tx, 'domain', id)
    .set({
      checked_at: now,
      check_outcome: outcome,
      check_values: answer.values.slice(0, 5).map(shown),
      failing_since,
      ...(isProved && { verified_at: found.verified_at ?? now, quarantined_at: null }),
      ...(isOver && { verified_at: null, quarantined_at: now })
    })
    .execute()
  const note = (action: 'verify' | 'miss_record' | 'find_record' | 'turn_off') =>
    addAuditEntry(tx, deps, {
      by: by ?? serviceActor(tx.companyId),
      action: `domain.${action}`,
      target: id,
      after: { host: found.host }
    })
  if (isOver) note('turn_off')
  else if (isServed && found.failing_since === null && failing_since !== null) note('miss_record')
  else if (isServed && found.failing_since !== null && failing_since === null) note('find_record')
  // whoever presses “Check now” does not take the wildcard away from the companies below it
  if (isOver)
    await startDnsDeadlinesUnderWildcard(tx, deps, { by: undefined, wildcard: found.host })
  const facts = { company: tx.companyId, host: found.host, outcome }
  if (isOver)
    deps.log.warn(
      facts,
      'a domain is no longer served: for seven days its DNS record was missing or had another value'
    )
  else if (isServed && isMissing)
    deps.log.warn(
      facts,
      'the DNS record of a domain is missing or has another value: seven days after that began, the domain is no longer served'
    )
  const isNew = isProved && !isServed
  if (isNew || isOver) tx.afterCommit(() => deps.signals.domains.send(found.host))
  if (!isNew) return
  await restoreHostsUnderWildcard(tx, deps, { by, company: tx.companyId, wildcard: found.host })
  note('verify')
  await queueWaitingInvitations(tx, deps, found.host)
}

// some panels store the quotes too
function unquoted(value: string): string {
  const [inner = ''] = /[0-9a-z](?:.*[0-9a-z])?/is.exec(value) ?? []
  return inner.toLowerCase()
}

// the database cannot store all control characters and lone surrogates
function shown(value: string): string {
  return value
    .slice(0, 200)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\ufffd')
}
