import { domainToASCII } from 'node:url'
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import type { DomainDetails, createDomain as endpoint } from '../../../contract/domains.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import {
  countRows,
  deleteById,
  deleteInCompany,
  lockCompanyRow,
  selectInCompany,
  updateById
} from '../../db/company-queries.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import { queueWaitingInvitations, sendWaitingInvitations } from '../accounts/invitations.ts'
import { addAuditEntry, serviceActor } from '../audit/audit-entries.ts'
import { countCoveredHostsOfOthers, readDomain } from '../companies/domain-admin.ts'
import {
  type DomainCall,
  hostTakenError,
  isHostProvedByAnyCompany,
  lockDomainRow
} from '../companies/domain-rows.ts'
import { withDefaultGroupError } from '../companies/groups.ts'
import { createProofToken, isLocalhost, requireClaimableHost } from '../companies/host-names.ts'
import { findPrimaryDomain } from '../companies/served-hosts.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { newId } from '../ids.ts'
import { requireRoom } from '../limits/bounds.ts'
import { type ExpectedVersion, missingVersionNote, requireVersion } from '../versions.ts'

interface Claim extends z.output<typeof endpoint.input> {
  company_id: CompanyId
  by: { id: string; company_id: CompanyId; permissions: string[] }
  isDeveloper: boolean
  idempotencyKey: string | undefined
}

export async function createDomain(
  deps: Pick<Deps, 'db' | 'dns' | 'keys' | 'random' | 'clock' | 'signals' | 'settings'>,
  { company_id, by, isDeveloper, idempotencyKey: key, ...input }: Claim
): Promise<{ body: DomainDetails; replayed: boolean }> {
  const host = asciiHost(input.host)
  requireClaimableHost(host, isDeveloper)
  const isOperatorElsewhere = by.permissions.includes('operator') && by.company_id !== company_id
  const now = deps.clock()
  const insert = async (tx: Tx) => {
    await requireRoom(tx, deps, 'domains')
    const { theme, locale, company } = await inheritedFields(tx)
    const isTrusted = deps.dns === undefined || isLocalhost(host)
    const covering = isOperatorElsewhere ? [company_id, by.company_id] : [company_id]
    const coveredBy = isTrusted ? undefined : await findCoveringCompany(tx, covering, host)
    const needsProof = !isTrusted && coveredBy === undefined
    if (needsProof) {
      if (await isHostProvedByAnyCompany(tx, host)) throw hostTakenError()
      await requireRoom(tx, deps, 'unproved_domains')
    }
    const { name = company, title = company, public: isPublic = false } = input
    const texts = { host, name, title, public: isPublic, locale: input.locale ?? locale }
    const id = newId(deps)
    await tx
      .insertInto('domain')
      .values({
        ...texts,
        company_id,
        id,
        theme: JSON.stringify(theme),
        created_at: now,
        proof_token: needsProof ? createProofToken(deps) : null,
        verified_at: needsProof ? null : now,
        covered_by: coveredBy ?? null
      })
      .execute()
    addAuditEntry(tx, deps, { by, action: 'domain.create', target: id, after: texts })
    if (!needsProof) {
      tx.afterCommit(() => deps.signals.domains.send(host))
      await restoreHostsUnderWildcard(tx, deps, { by, company: company_id, wildcard: host })
      await queueWaitingInvitations(tx, deps, host)
    }
    return readDomain(tx, id)
  }
  return withHostTakenError(() =>
    withDefaultGroupError(() =>
      inCompany(deps.db, company_id, tx =>
        runOnce(tx, deps, { actor: by.id, route: 'POST /domain', key, input }, () => insert(tx))
      )
    )
  )
}

export async function deleteDomain(
  deps: Pick<Deps, 'db' | 'dns' | 'random' | 'clock' | 'signals'>,
  { company_id, by, id, version }: DomainCall & ExpectedVersion & { by: Claim['by'] }
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    const found = await lockUnneeded(tx, id)
    requireVersion(found.version, version)
    const isOperator = by.permissions.includes('operator')
    if (!isOperator && (await countCoveredHostsOfOthers(tx, found.host)) > 0) {
      throw new AppError('domain_covers_others', 'The wildcard proves hosts of other companies')
    }
    await deleteById(tx, 'domain', id).execute()
    await startDnsDeadlinesUnderWildcard(tx, deps, { by, wildcard: found.host })
    const before = { host: found.host, name: found.name }
    addAuditEntry(tx, deps, {
      by,
      action: 'domain.delete',
      target: id,
      before,
      after: missingVersionNote(version)
    })
    tx.afterCommit(() => deps.signals.domains.send(found.host))
  })
}

export async function moveDomainToCompany(
  deps: Pick<Deps, 'db' | 'dns' | 'keys' | 'random' | 'clock' | 'signals' | 'log' | 'settings'>,
  { company_id, by, id, to: target }: DomainCall & { to: string }
): Promise<DomainDetails> {
  const to = toCompanyId(target)
  if (to === company_id) return inCompany(deps.db, company_id, tx => readDomain(tx, id))
  const inherited = await inCompany(deps.db, to, inheritedFields)
  const moved = newId(deps)
  const move = async (tx: Tx) => {
    const { host } = await lockUnneeded(tx, id)
    // a chosen domain can be moved while it is not served
    await updateById(tx, 'domain', id).set({ is_primary: false }).execute()
    await deleteInCompany(tx, 'domain_theme').where('domain_id', '=', id).execute()
    await sql`select move_domain(${id}, ${to}, ${moved}, ${inherited.company}, ${inherited.locale},
      ${JSON.stringify(inherited.theme)}::jsonb)`.execute(tx)
    await startDnsDeadlinesUnderWildcard(tx, deps, { by, wildcard: host })
    await restoreHostsUnderWildcard(tx, deps, { by, company: to, wildcard: host })
    const [before, after] = [{ company_id }, { company_id: to }]
    const entry = { by, action: 'domain.move' } as const
    addAuditEntry(tx, deps, {
      ...entry,
      target: id,
      before: { ...before, host },
      after: { ...after, host }
    })
    addAuditEntry(tx, deps, {
      ...entry,
      company: to,
      target: moved,
      before,
      after: { ...after, host }
    })
    tx.afterCommit(() => deps.signals.domains.send(host))
  }
  await inCompany(deps.db, to, async tx => {
    // one move at a time: a move locks the rows of two companies in two transactions, so the database
    // would not notice that a move in the other direction waits for it
    await tx.selectFrom('installation').select('only_row').forNoKeyUpdate().execute()
    // counted under a lock that ends after the move
    await requireRoom(tx, deps, 'domains')
    await withHostTakenError(() => inCompany(deps.db, company_id, move))
  })
  try {
    await sendWaitingInvitations(deps, to)
  } catch (error) {
    // the domain is moved, and the job that checks domains sends them later
    deps.log.warn({ company: to, err: error }, 'the invitations that wait for a host were not sent')
  }
  return inCompany(deps.db, to, tx => readDomain(tx, moved))
}

/**
 * Returns the first whose verified wildcard covers `host`. Locks the wildcard's row, so that it
 * still exists when the host is stored.
 */
export async function findCoveringCompany(
  tx: Tx,
  companies: readonly CompanyId[],
  host: string
): Promise<CompanyId | undefined> {
  if (host.startsWith('*')) return undefined
  for (const company of companies) {
    const { rows } = await sql<{ answer: boolean }>`
      select is_covered_by(${company}, ${host}) as answer`.execute(tx)
    if (rows[0]?.answer === true) return company
  }
  return undefined
}

interface Wildcard {
  // undefined if a check of DNS found the change
  by: DomainCall['by'] | undefined
  wildcard: string
}

/**
 * To be called when the company loses the wildcard, whose row must be locked. Hosts of any company
 * that only the wildcard proved need a record of their own within seven days.
 */
export async function startDnsDeadlinesUnderWildcard(
  tx: Tx,
  deps: Pick<Deps, 'dns' | 'random' | 'clock'>,
  { by, wildcard }: Wildcard
): Promise<void> {
  if (deps.dns === undefined || !wildcard.startsWith('*') || isLocalhost(wildcard)) return
  const seed = Buffer.from(deps.random(32)).toString('hex')
  const { rows } = await sql<HostBelow>`
    select * from require_own_proofs(${wildcard}, ${seed}, ${deps.clock()})`.execute(tx)
  auditHostsOfOthers(tx, deps, { by, action: 'domain.uncover', wildcard, hosts: rows })
}

/**
 * To be called when the company gets the wildcard. It proves again the hosts that it proved before,
 * except those with a record of their own or taken by others.
 */
export async function restoreHostsUnderWildcard(
  tx: Tx,
  deps: Pick<Deps, 'random' | 'clock' | 'signals'>,
  { company, by, wildcard }: Wildcard & { company: CompanyId }
): Promise<void> {
  if (!wildcard.startsWith('*')) return
  const { rows } = await sql<HostBelow>`
    select * from restore_covered_hosts(${company}, ${wildcard}, ${deps.clock()})`.execute(tx)
  auditHostsOfOthers(tx, deps, { by, action: 'domain.cover', wildcard, hosts: rows })
  tx.afterCommit(() => {
    for (const { host } of rows) deps.signals.domains.send(host)
  })
}

interface HostBelow {
  company_id: string
  id: string
  host: string
}

function auditHostsOfOthers(
  tx: Tx,
  deps: Pick<Deps, 'random' | 'clock'>,
  {
    by,
    action,
    wildcard,
    hosts
  }: Wildcard & { action: 'domain.uncover' | 'domain.cover'; hosts: HostBelow[] }
): void {
  for (const { company_id, id, host } of hosts) {
    const company = toCompanyId(company_id)
    if (company === by?.company_id) continue
    addAuditEntry(tx, deps, {
      by: by ?? serviceActor(company),
      company,
      action,
      target: id,
      after: { host, wildcard }
    })
  }
}

/** Throws `host_taken` if the database refuses that `write` claims or proves a host. */
export async function withHostTakenError<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    const { code, constraint } = Object(cause)
    const isTaken = ['domain_host', 'domain_own_host'].includes(constraint)
    if (code !== '23505' || !isTaken) throw cause
    throw hostTakenError(cause)
  }
}

// `'*.Été.fr'` → `'*.xn--t-9fab.fr'`
function asciiHost(host: string): string {
  const star = host.startsWith('*.') ? '*.' : ''
  return star + domainToASCII(host.slice(star.length))
}

// the theme and language of the company's oldest domain
async function inheritedFields(
  tx: Tx
): Promise<{ company: string; theme: unknown; locale: string }> {
  const found = await tx
    .selectFrom('company')
    .innerJoin('domain', join => join.onTrue())
    .where('company.id', '=', tx.companyId)
    .where('domain.company_id', '=', tx.companyId)
    .orderBy('domain.id')
    .select(['company.name as company', 'domain.theme', 'domain.locale'])
    .limit(1)
    .executeTakeFirst()
  if (!found) throw new AppError('not_found', 'No such company')
  return found
}

async function lockUnneeded(tx: Tx, id: string) {
  // two parallel calls must not remove the last two domains
  await lockCompanyRow(tx)
  const found = await lockDomainRow(tx, id)
  const others = await selectInCompany(tx, 'domain')
    .where('id', '<>', id)
    .select('id')
    .limit(1)
    .execute()
  if (others.length > 0 && (await findPrimaryDomain(tx))?.id !== id) return found
  const users = await countRows(selectInCompany(tx, 'user').where('deleted_at', 'is', null))
  throw new AppError('domain_needed', 'The company’s mails and links lead to this domain', {
    uses: { users }
  })
}
