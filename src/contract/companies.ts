import * as z from 'zod/mini'
import { HostName, Locale, SuspendedVerification } from './domains.ts'
import { DisabledReason } from './kit/disabled.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { textLineSchema } from './kit/text-checks.ts'
import { Email, MailLinkResult } from './users.ts'

/** A company's name: one line of 1 to 80 characters, at least one of them visible. */
export const CompanyName = textLineSchema(80)

const Suspension = z.object({
  reason: z.string(),
  since: z.iso.datetime(),
  verification: SuspendedVerification
})

/** A company of the installation: a tenant with its own people, domains and documents. */
export const Company = z.object({
  id: z.uuid(),
  version: z.number(),
  name: z.string(),
  created: z.iso.datetime(),
  /**
   * Host names of the company: those that are verified first, each part in alphabetical order. At
   * most 100, and in a list of companies only the first one.
   */
  domains: z.array(
    z.object({
      id: z.uuid(),
      host: z.string(),
      /**
       * Whether the company has proved that it owns the host name. Pages are served only on
       * verified host names.
       */
      verified: z.boolean()
    })
  ),
  /** Number of all host names of the company. */
  domain_count: z.number(),
  /** Why and since when an operator has suspended the company. `null`: it is not suspended. */
  suspended: z.nullable(Suspension),
  /** Whether the company is the demonstration, whose documents are fictional. */
  demo: z.boolean()
})
export type Company = z.infer<typeof Company>

/** A company with the number of its people. */
export const CompanyDetails = z.extend(Company, {
  /**
   * Number of people in each state. `waiting` counts sign-ups whose e-mail is not confirmed yet.
   */
  people: z.object({
    active: z.number(),
    invited: z.number(),
    disabled: z.number(),
    waiting: z.number()
  })
})
export type CompanyDetails = z.infer<typeof CompanyDetails>

/**
 * A company as operators see it in the list of companies: with the number of its people and
 * documents, its storage and its requests.
 */
export const ListedCompany = z.extend(Company, {
  usage: z.object({
    /** Number of people in all states except `waiting`. */
    people: z.number(),
    /** Number of deposits, including those whose file has been deleted. */
    documents: z.number(),
    /** Number of bytes that the company's people have stored. */
    storage: z.number(),
    /** Number of deposits and verified documents in the current month, in UTC. */
    requests: z.number()
  })
})
export type ListedCompany = z.infer<typeof ListedCompany>

/** Lists all companies of the installation, by name unless `sort` says otherwise. */
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
 * Creates a company with its first domain and invites its first administrator. The invitation is
 * sent when the domain is verified, because no page of the company opens earlier. Some domains are
 * verified immediately: every domain in an installation without DNS checks, domains below a
 * wildcard domain of the operator's own company, and `*.localhost` on a developer's machine. Fails
 * with `host_taken` if another company has proved that it owns the host, or if a company of the
 * same name has claimed the host.
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
    /** E-mail of the first administrator. */
    email: Email,
    /** Language of the company's pages and of the invitation. English if absent. */
    locale: z.optional(Locale)
  }),
  output: z.extend(Company, {
    /** The first administrator's invitation. Absent while the domain is not verified. */
    invitation: z.optional(MailLinkResult)
  }),
  errors: ['host_not_allowed', 'host_taken', 'idempotency_in_flight', 'idempotency_key_reused']
})

/** Returns a company with its domains and the number of its people. */
export const getCompany = endpoint({
  method: 'GET',
  path: '/company/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: CompanyDetails
})

/** Changes a company. Fields that the input does not contain stay unchanged. */
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
 * Suspends a company. Its pages say that the service is paused and nothing else. Every call of its
 * people is refused, and their event streams end. Only its administrators are told the reason.
 * Strangers can still verify documents, unless `verification` is `closed`. For a company that is
 * suspended already, only the reason and `verification` change. Operators cannot suspend their own
 * company.
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
    /** Whether strangers can still verify documents. `open` if absent. */
    verification: z.optional(SuspendedVerification)
  }),
  output: Company,
  errors: ['own_company']
})

/**
 * Ends the suspension of a company. Sessions from before the suspension are valid again, except
 * those that have ended or expired since.
 */
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
