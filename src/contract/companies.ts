import * as z from 'zod/mini'
import { HostName, Locale, SuspendedVerification } from './domains.ts'
import { DisabledReason } from './kit/disabled.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { textLineSchema } from './kit/text-checks.ts'
import { Email, MailLinkResult } from './users.ts'

export const CompanyName = textLineSchema(80)

const Suspension = z.object({
  reason: z.string(),
  since: z.iso.datetime(),
  verification: SuspendedVerification
})

export const Company = z.object({
  id: z.uuid(),
  version: z.number(),
  name: z.string(),
  created: z.iso.datetime(),
  // verified ones first, at most 100; in a list of companies only the first
  domains: z.array(
    z.object({
      id: z.uuid(),
      host: z.string(),
      verified: z.boolean()
    })
  ),
  domain_count: z.number(),
  suspended: z.nullable(Suspension),
  // its documents are fictional
  demo: z.boolean()
})
export type Company = z.infer<typeof Company>

export const CompanyDetails = z.extend(Company, {
  // `waiting`: sign-ups that are not confirmed
  people: z.object({
    active: z.number(),
    invited: z.number(),
    disabled: z.number(),
    waiting: z.number()
  })
})
export type CompanyDetails = z.infer<typeof CompanyDetails>

export const ListedCompany = z.extend(Company, {
  usage: z.object({
    // without `waiting`
    people: z.number(),
    documents: z.number(),
    storage: z.number(),
    // deposits and verified documents of the current month in UTC
    requests: z.number()
  })
})
export type ListedCompany = z.infer<typeof ListedCompany>

/**
 * Lists the companies of the installation, each with its people, its documents, its stored bytes
 * and its requests of this month (UTC). `q` holds words from a name.
 */
export const listCompanies = listEndpoint({
  path: '/company',
  access: 'operator',
  item: ListedCompany,
  input: {
    q: SearchText,
    sort: sortParameter('name', 'created'),
    state: z.optional(z.enum(['active', 'suspended']))
  }
})

/**
 * Creates a company with its first domain and invites its first administrator. If the domain is not
 * verified yet, the invitation waits until it is.
 */
export const createCompany = endpoint({
  method: 'POST',
  path: '/company',
  access: 'operator',
  confirmation: true,
  status: 201,
  idempotency: 'honoured',
  versioned: 'settings',
  input: z.strictObject({
    name: CompanyName,
    host: HostName,
    email: Email,
    // English if absent
    locale: z.optional(Locale)
  }),
  output: z.extend(Company, {
    // absent while the domain is not verified
    invitation: z.optional(MailLinkResult)
  }),
  errors: ['host_not_allowed', 'host_taken', 'idempotency_in_flight', 'idempotency_key_reused']
})

/** Shows a company: its name, its domains, how many people it has and whether it is suspended. */
export const getCompany = endpoint({
  method: 'GET',
  path: '/company/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: CompanyDetails
})

/** Renames a company. With `If-Match`, only if it still has that version. */
export const updateCompany = endpoint({
  method: 'PUT',
  path: '/company/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id, name: z.optional(CompanyName) }),
  output: Company,
  errors: ['changed_meanwhile']
})

/**
 * Suspends a company for one of the fixed reasons: the API refuses its people, and its pages stay
 * online.
 */
export const suspendCompany = endpoint({
  method: 'POST',
  path: '/company/{id}/suspend',
  access: 'operator',
  confirmation: true,
  versioned: 'settings',
  input: z.strictObject({
    id: Id,
    reason: DisabledReason,
    // `open` if absent
    verification: z.optional(SuspendedVerification)
  }),
  output: Company,
  errors: ['own_company']
})

/** Ends the suspension of a company. Its sessions work again. */
export const resumeCompany = endpoint({
  method: 'POST',
  path: '/company/{id}/resume',
  access: 'operator',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: Company
})

export const companyCalls = {
  listCompanies,
  createCompany,
  getCompany,
  updateCompany,
  suspendCompany,
  resumeCompany
}
