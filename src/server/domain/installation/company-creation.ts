import type { Company } from '../../../contract/companies.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import {
  type InvitationResult,
  insertInvitedPerson,
  queueFirstInvitation
} from '../accounts/invitations.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import { isNameAndHostPairTaken, readCompany } from '../companies/companies.ts'
import { hostTakenError, isHostProvedByAnyCompany } from '../companies/domain-rows.ts'
import { isLocalhost, requireClaimableHost } from '../companies/host-names.ts'
import { insertCompanyRows } from '../companies/new-companies.ts'
import { getTenantOnPrimaryHost } from '../companies/served-hosts.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { findCoveringCompany, withHostTakenError } from '../host-proofs/domain-claims.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { newId } from '../ids.ts'
import { productTheme } from './product-theme.ts'

interface NewTenant {
  by: { id: string; company_id: CompanyId }
  isDeveloper: boolean
  idempotencyKey: string | undefined
  name: string
  host: string
  // the first administrator's, as `canonicalEmail` returns it
  email: string
  locale: 'en' | 'fr' | undefined
}

type CreatedCompany = Company & { invitation?: InvitationResult }

export async function createCompanyWithAdministrator(
  deps: Pick<Deps, 'db' | 'dns' | 'keys' | 'random' | 'clock' | 'signals' | 'settings'>,
  { idempotencyKey: key, ...input }: NewTenant
): Promise<{ body: CreatedCompany; replayed: boolean }> {
  const { by, isDeveloper: _, ...fields } = input
  requireClaimableHost(input.host, input.isDeveloper)
  const call = { actor: by.id, route: 'POST /company', key, input: fields }
  // A transaction belongs to one company, so the new company has its own. If the process stops
  // between the two commits, a repeated call throws `host_taken`.
  const create = () => insertCompanyWithAdministrator(deps, input)
  const { body, replayed } =
    key === undefined
      ? { body: await create(), replayed: false }
      : await inCompany(deps.db, by.company_id, tx => runOnce(tx, deps, call, create))
  const { company, user_id, isVerified } = body
  if (replayed || !isVerified) return { body: company, replayed }
  // not stored for repeated calls, because whoever has the link can get in
  const tenant = await getTenantOnPrimaryHost(deps, toCompanyId(company.id))
  const invitation = await queueFirstInvitation(deps, { tenant, id: user_id })
  return { body: { ...company, invitation }, replayed }
}

async function insertCompanyWithAdministrator(
  deps: Pick<Deps, 'db' | 'dns' | 'keys' | 'random' | 'clock' | 'signals' | 'settings'>,
  { by, name, host, email, locale }: Omit<NewTenant, 'idempotencyKey' | 'isDeveloper'>
): Promise<{ company: Company; user_id: string; isVerified: boolean }> {
  const unlimited = { max_requests: null, max_requests_interval: null, max_storage: null }
  const company_id = toCompanyId(newId(deps))
  return withHostTakenError(() =>
    inCompany(deps.db, company_id, async tx => {
      await lockCreation(tx)
      const needsNoProof = deps.dns === undefined || isLocalhost(host)
      const coveredBy = needsNoProof
        ? undefined
        : await findCoveringCompany(tx, [by.company_id], host)
      const isVerified = needsNoProof || coveredBy !== undefined
      if (!isVerified && (await isHostProvedByAnyCompany(tx, host))) throw hostTakenError()
      // as a repeated call does whose first attempt stopped between the two commits
      if (await isNameAndHostPairTaken(tx, { name, host })) throw hostTakenError()
      const texts = { host, name, title: name, public: false, theme: productTheme }
      const domain = { ...texts, isVerified, coveredBy }
      const settings = { name, domains: [domain], locale: locale ?? 'en', limits: unlimited }
      await insertCompanyRows(tx, deps, settings)
      const after = { name, host }
      addAuditEntry(tx, deps, { by, action: 'company.create', target: company_id, after })
      const invited = { email, locale, permissions: ['admin'] }
      const user_id = await insertInvitedPerson(tx, deps, { by, ...invited })
      return { company: await readCompany(tx), user_id, isVerified }
    })
  )
}

// companies are created one after the other
async function lockCreation(tx: Tx): Promise<void> {
  await tx.selectFrom('installation').select('only_row').forNoKeyUpdate().execute()
}
