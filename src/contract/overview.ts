import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'

/** Maximum number of days that one call of `getUsageByDay` returns. */
export const maxUsageDays = 400

/** What a company or one of its groups used on one day in UTC. */
export const UsageDay = z.object({
  day: z.iso.date(),
  /** Number of deposits that were begun on this day and succeeded. */
  deposits: z.number(),
  /** Number of documents that people of the company verified while they were signed in. */
  verifications: z.number(),
  /** Number of bytes stored by the deposits that were begun on this day and succeeded. */
  bytes: z.number(),
  /**
   * Number of deposits that were begun on this day and failed. Failed deposits count towards no
   * limit.
   */
  failed: z.number()
})
export type UsageDay = z.infer<typeof UsageDay>

/**
 * Returns what a company, or one of its groups (`group`), used on each day from `from` to `to`,
 * both included. Days without usage are also listed. `to` is today if absent. `from` is 29 days
 * before `to` if absent. At most 400 days.
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
 * Kinds of findings that an administrator should act on:
 * - `people_waiting`: people who have signed up and have not confirmed their e-mail.
 * - `invitations_expired`: invited people whose mailed link has expired.
 * - `invitations_by_hand`: invited people who wait for a link from an administrator, because no
 *   mail server is configured.
 * - `group_limits`: limits of which a group has used at least 80 %.
 * - `deposits_held`: deposits whose file has arrived, but which could not be recorded in several
 *   attempts. An operator can retry them.
 * - `deposits_failed`: deposits that have failed since yesterday.
 * - `mails_delayed`: mails that have been due for five minutes and could not be sent.
 * - `domains_unverified`: hosts that were claimed more than a day ago and are still not verified.
 * - `domains_failing`: hosts whose DNS record (the proof of ownership) is missing, but which are
 *   still served.
 * - `domains_quarantined`: hosts that are no longer served, because the DNS record was missing.
 * - `domains_taken`: claimed hosts that another company owns.
 * - `no_administrator`: the company has people, or had some, but nobody who administers it. Only
 *   operators can meet this finding.
 * - `disk_nearly_full`: the disk of the installation is nearly full. Only operators get this
 *   finding.
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
  'no_administrator',
  'disk_nearly_full'
])
export type AttentionKind = z.infer<typeof AttentionKind>

/** A limit that a group has nearly used up. */
export const NearLimit = z.object({
  group: z.object({ id: z.uuid(), name: z.string() }),
  /**
   * Which of the group's limits this is. `requests`: the limit `max_requests`. `storage`: the limit
   * `max_storage`.
   */
  limited: z.enum(['requests', 'storage']),
  used: z.number(),
  limit: z.number(),
  /** Time at which the count begins again at 0. `null`: never, as for all limits of storage. */
  resets_at: z.nullable(z.iso.datetime())
})
export type NearLimit = z.infer<typeof NearLimit>

/** A finding that an administrator should act on, such as mails that could not be sent. */
export const AttentionItem = z.object({
  kind: AttentionKind,
  /**
   * `error`: something does not work. `warning`: something will soon stop working, or somebody
   * waits for an administrator. `info`: good to know.
   */
  severity: z.enum(['error', 'warning', 'info']),
  /**
   * How many people, limits, deposits, mails or domains the finding is about. For
   * `disk_nearly_full`, the percentage of the disk that is used. For `no_administrator`, 1.
   */
  count: z.number(),
  /**
   * Earliest time at which one of the counted people, deposits, mails or domains began to need
   * attention. `null` if the time is unknown.
   */
  since: z.nullable(z.iso.datetime()),
  /** For `group_limits`: the five limits that are closest to being used up. */
  limits: z.optional(z.array(NearLimit)),
  /** For findings about domains: the five domains that have needed attention the longest. */
  domains: z.optional(z.array(z.object({ id: z.uuid(), host: z.string() })))
})
export type AttentionItem = z.infer<typeof AttentionItem>

/** What needs attention in a company. */
export const AttentionOfCompany = z.object({
  checked: z.iso.datetime(),
  /**
   * Whether the service has a mail server. Without one, administrators must pass on links
   * themselves.
   */
  has_mail_server: z.boolean(),
  /** The findings, most severe first. Empty: everything is in order. */
  items: z.array(AttentionItem),
  /** Kinds of findings that could not be checked at the moment. */
  unchecked: z.array(AttentionKind)
})
export type AttentionOfCompany = z.infer<typeof AttentionOfCompany>

/** Returns what the administrators of a company should act on. */
export const getAttention = endpoint({
  method: 'GET',
  path: '/company/{id}/attention',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: AttentionOfCompany
})

/** What needs attention in all companies of the installation. */
export const AttentionOfAllCompanies = z.object({
  checked: z.iso.datetime(),
  /**
   * Whether the service has a mail server. Without one, administrators must pass on links
   * themselves.
   */
  has_mail_server: z.boolean(),
  /** Findings about the whole installation, such as the disk. */
  items: z.array(AttentionItem),
  /** Kinds of findings about the installation that could not be checked at the moment. */
  unchecked: z.array(AttentionKind),
  /**
   * The companies with findings, or with something that could not be checked, most severe first.
   */
  companies: z.array(
    z.object({
      company: z.object({ id: z.uuid(), name: z.string() }),
      items: z.array(AttentionItem),
      unchecked: z.array(AttentionKind)
    })
  ),
  /**
   * Number of companies that were not checked because time ran out: the check of all companies
   * takes at most two seconds.
   */
  skipped: z.number()
})
export type AttentionOfAllCompanies = z.infer<typeof AttentionOfAllCompanies>

/** Returns what operators should act on in all companies and in the installation. */
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
