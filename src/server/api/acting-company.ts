import * as z from 'zod/mini'
import { type ActingRoute, actsInCompany, hasCompanyPath } from '../../contract/endpoint.ts'
import { findActingCompany } from '../domain/companies/companies.ts'
import { getTenant } from '../domain/companies/domains.ts'
import type { CompanyId, Tenant } from '../domain/deps.ts'
import type { Person } from '../domain/sessions/sessions.ts'
import { requirePermission } from './admission.ts'
import { type ApiContext, person } from './context.ts'
import { refusedField } from './refused-fields.ts'

const Id = z.uuid()

/**
 * Resolves the company in which a person's call acts, once and before the endpoint runs: the company
 * of a path below `/company/{id}` or of the header `Company`, otherwise the person's own. Calls that
 * administer no company ignore the header. Throws `not_found` for a company in which the person may
 * not act, as for one that does not exist.
 *
 * `by` was read from the database for this call, so a permission that was taken away counts no more.
 */
export async function resolveActingCompany(
  c: ApiContext,
  route: ActingRoute,
  by: Person
): Promise<void> {
  if (!actsInCompany(route)) return
  const named = c.req.header('company')
  if (named !== undefined) requirePermission(by, 'admin')
  if (named !== undefined && !Id.safeParse(named).success) {
    throw refusedField('company', { rule: 'format', detail: 'the id of a company' })
  }
  const ofPath = hasCompanyPath(route) ? c.req.param('id') : undefined
  // a malformed id of the path is refused with the input
  const isMalformed = ofPath !== undefined && !Id.safeParse(ofPath).success
  if (named && ofPath && !isMalformed && named.toLowerCase() !== ofPath.toLowerCase()) {
    throw refusedField('company', { rule: 'format', detail: 'the company of the path' })
  }
  const wanted = (isMalformed ? undefined : ofPath) ?? named ?? by.company_id
  c.set('acting', await findActingCompany(c.get('deps'), by, wanted))
}

/** Returns the company in which the call acts. Throws for a call that administers none. */
export function actingCompany(c: ApiContext): CompanyId {
  const found = c.get('acting')
  if (found === undefined) throw new Error('a call that administers no company asked for one')
  return found
}

/**
 * Returns the company in which the call acts with one of its hosts, to which links in its mails
 * lead.
 */
export async function actingTenant(c: ApiContext): Promise<Tenant> {
  const [tenant, acting] = [c.get('tenant'), actingCompany(c)]
  return acting === tenant.company_id ? tenant : getTenant(c.get('deps'), acting)
}

/** Returns who acts, and in which company. */
export function act(c: ApiContext): { company_id: CompanyId; by: Person } {
  return { company_id: actingCompany(c), by: person(c) }
}
