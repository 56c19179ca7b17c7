import {
  type CompanyAdministrationFields,
  hasCompanyIdInPath,
  isCompanyAdministrationCall
} from '../../../contract/kit/endpoint.ts'
import { Id } from '../../../contract/kit/ids.ts'
import { requireAdministeredCompany } from '../../domain/companies/companies.ts'
import {
  getTenantOnPrimaryHost,
  readPrimaryOrOldestHost
} from '../../domain/companies/served-hosts.ts'
import type { CompanyId, SendingCompany, Tenant } from '../../domain/deps.ts'
import type { AuthenticatedCaller } from '../../domain/sessions/sessions.ts'
import { requirePermission } from './admission.ts'
import { type ApiContext, authenticatedCaller } from './context.ts'
import { invalidFieldError } from './refused-fields.ts'

/**
 * A path below `/company/{id}` or the header `Company` names the company, else it is the caller's
 * own. `by` is the caller, with the permissions just read from the database.
 */
export async function checkAndSetAdministeredCompany(
  c: ApiContext,
  route: CompanyAdministrationFields,
  by: AuthenticatedCaller
): Promise<void> {
  if (!isCompanyAdministrationCall(route)) return
  const header = c.req.header('company')
  if (header !== undefined) requirePermission(by, 'admin')
  const named = Id.safeParse(header).data
  if (header !== undefined && named === undefined) {
    throw invalidFieldError('company', { rule: 'format', detail: 'the id of a company' })
  }
  // a malformed id of the path is refused with the input
  const ofPath = hasCompanyIdInPath(route) ? Id.safeParse(c.req.param('id')).data : undefined
  if (named && ofPath && named !== ofPath) {
    throw invalidFieldError('company', { rule: 'format', detail: 'the company of the path' })
  }
  const wanted = ofPath ?? named ?? by.company_id
  c.set('acting', await requireAdministeredCompany(c.get('deps'), by, wanted))
}

/** Throws for an endpoint that administers no company, like the functions below. */
export function administeredCompanyId(c: ApiContext): CompanyId {
  const found = c.get('acting')
  if (found === undefined) throw new Error('a call that administers no company asked for one')
  return found
}

/** Throws `host_needed` if the company has no host for the links in mails. */
export async function administeredTenant(c: ApiContext): Promise<Tenant> {
  const [tenant, acting] = [c.get('tenant'), administeredCompanyId(c)]
  return acting === tenant.company_id ? tenant : getTenantOnPrimaryHost(c.get('deps'), acting)
}

/** `linksMustWork`: people must be able to open the links in these mails, as in an invitation. */
export async function administeredCompanyAsMailSender(
  c: ApiContext,
  linksMustWork: boolean
): Promise<SendingCompany> {
  const [{ company_id }, acting] = [c.get('tenant'), administeredCompanyId(c)]
  if (linksMustWork || acting === company_id) return administeredTenant(c)
  return { company_id: acting, host: await readPrimaryOrOldestHost(c.get('deps'), acting) }
}

export function callerAndAdministeredCompany(c: ApiContext): {
  company_id: CompanyId
  by: AuthenticatedCaller
} {
  return { company_id: administeredCompanyId(c), by: authenticatedCaller(c) }
}
