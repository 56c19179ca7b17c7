import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'

export const maxUsageDays = 400

export const UsageDay = z.object({
  day: z.iso.date(),
  // begun on this day
  deposits: z.number(),
  // by people who were signed in
  verifications: z.number(),
  // of the deposits that were begun on this day
  bytes: z.number(),
  // count towards no limit
  failed: z.number()
})
export type UsageDay = z.infer<typeof UsageDay>

/**
 * Shows what a company, or one `group` of it, used on each day (UTC) from `from` to `to`: deposits,
 * verified documents, stored bytes, failed deposits. The last 30 days if both are left out, 400
 * days at most.
 */
export const getUsageByDay = endpoint({
  method: 'GET',
  path: '/company/{id}/usage',
  access: 'admin',
  input: z.strictObject({
    id: Id,
    group: z.optional(Id),
    from: z.optional(z.iso.date()),
    to: z.optional(z.iso.date())
  }),
  output: z.array(UsageDay)
})

/**
 * `invitations_by_hand`: links to pass on, without a mail server. `group_limits`: 80 % used.
 * `deposits_held`: not recorded in several attempts. `mails_delayed`: due for five minutes.
 * `domains_unverified`: claimed more than a day ago. `log_frozen`: records wait to be sealed.
 * `log_damaged`: the published log is damaged, or cannot be signed. `log_named_localhost`: receipts
 * name `localhost`, although a domain is verified. `no_administrator` and `disk_nearly_full` are for
 * operators.
 */
export const AttentionKind = z.enum([
  'people_waiting',
  'invitations_expired',
  'invitations_by_hand',
  'group_limits',
  'deposits_held',
  'deposits_failed',
  'mails_delayed',
  'domains_unverified',
  'domains_failing',
  'domains_quarantined',
  'domains_taken',
  'log_frozen',
  'log_damaged',
  'log_named_localhost',
  'no_administrator',
  'disk_nearly_full'
])
export type AttentionKind = z.infer<typeof AttentionKind>

export const NearLimit = z.object({
  group: z.object({ id: z.uuid(), name: z.string() }),
  limited: z.enum(['requests', 'storage']),
  used: z.number(),
  limit: z.number(),
  // never, for storage
  resets_at: z.nullable(z.iso.datetime())
})
export type NearLimit = z.infer<typeof NearLimit>

export const AttentionItem = z.object({
  kind: AttentionKind,
  /** `warning`: something will soon stop working, or somebody waits. */
  severity: z.enum(['error', 'warning', 'info']),
  // for `disk_nearly_full`, the percentage that is used
  count: z.number(),
  // the earliest of those counted
  since: z.nullable(z.iso.datetime()),
  // the five closest to being used up
  limits: z.optional(z.array(NearLimit)),
  // for `log_named_localhost`, its name
  log: z.optional(z.string()),
  // the five that have waited longest, or the one that receipts could name
  domains: z.optional(z.array(z.object({ id: z.uuid(), host: z.string() })))
})
export type AttentionItem = z.infer<typeof AttentionItem>

export const AttentionOfCompany = z.object({
  checked: z.iso.datetime(),
  has_mail_server: z.boolean(),
  // most severe first
  items: z.array(AttentionItem),
  unchecked: z.array(AttentionKind)
})
export type AttentionOfCompany = z.infer<typeof AttentionOfCompany>

/**
 * Lists what an administrator should act on, the most severe first, with the time of the check. An
 * empty list means that everything is in order.
 */
export const getAttention = endpoint({
  method: 'GET',
  path: '/company/{id}/attention',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: AttentionOfCompany
})

export const AttentionOfAllCompanies = z.object({
  checked: z.iso.datetime(),
  has_mail_server: z.boolean(),
  items: z.array(AttentionItem),
  unchecked: z.array(AttentionKind),
  // most severe first, with what could not be checked
  companies: z.array(
    z.object({
      company: z.object({ id: z.uuid(), name: z.string() }),
      items: z.array(AttentionItem),
      unchecked: z.array(AttentionKind)
    })
  ),
  // not checked within two seconds
  skipped: z.number()
})
export type AttentionOfAllCompanies = z.infer<typeof AttentionOfAllCompanies>

/**
 * Lists what an operator should act on in all companies and in the installation, the most severe
 * first. Companies in which everything is in order are left out.
 */
export const getAttentionOfAllCompanies = endpoint({
  method: 'GET',
  path: '/attention',
  access: 'operator',
  input: z.strictObject({}),
  output: AttentionOfAllCompanies
})

export const overviewCalls = {
  getUsageByDay,
  getAttention,
  getAttentionOfAllCompanies
}
