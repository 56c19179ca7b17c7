import * as z from 'zod/mini'
import { nonJsonEndpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint } from './kit/lists.ts'

/**
 * The actions that the audit log records, as `noun.verb`. The noun is the kind of the changed item.
 * Actions may be added, but never renamed or reused. `src/i18n/en/admin/changes.json` contains the
 * English sentence for each action.
 */
export const AuditAction = z.enum([
  'api_key.create',
  'api_key.renew',
  'api_key.revoke',
  'category.create',
  'category.update',
  'category.delete',
  'company.set_up',
  'company.create',
  'company.update',
  'company.suspend',
  'company.resume',
  'company.read_history',
  'domain.create',
  'domain.update',
  'domain.delete',
  'domain.move',
  'domain.verify',
  'domain.uncover',
  'domain.cover',
  'domain.miss_record',
  'domain.find_record',
  'domain.turn_off',
  'domain.primary',
  'domain.publish',
  'domain.restore',
  'group.create',
  'group.update',
  'group.delete',
  'group.add_user',
  'group.remove_user',
  'group.add_category',
  'group.remove_category',
  'import.run',
  'import.undo',
  'import.delete',
  'user.invite',
  'user.invite_again',
  'user.invitation_link',
  'user.disable',
  'user.enable',
  'user.delete',
  'user.update',
  'user.permissions',
  'user.sign_out',
  'user.verify_link',
  'user.sign_up',
  'user.activate',
  'user.change_password',
  'user.reset_password',
  'user.change_email'
])
export type AuditAction = z.infer<typeof AuditAction>

/**
 * The actor of entries about what the service has done or found by itself, in its daily check of
 * domains.
 */
export const serviceActorId = '00000000-0000-0000-0000-000000000000'

/** A changed field, with its values before and after the change. `null`: the field had no value. */
export const AuditChange = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })
export type AuditChange = z.infer<typeof AuditChange>

/** An entry of a company's audit log: one change, who made it, and when. */
export const AuditLogEntry = z.object({
  id: z.uuid(),
  /** Number of the entry in the company's log, without gaps, from 1. */
  seq: z.number(),
  at: z.iso.datetime(),
  actor: z.object({
    id: z.uuid(),
    /**
     * Name of the person who made the change. `null` if the person's account was deleted, or if the
     * service itself made the entry; the `id` is then all zeros.
     */
    name: z.nullable(z.string()),
    /**
     * Name of the actor's company. Present only if an operator of another company made the change.
     */
    company: z.optional(z.string())
  }),
  /**
   * Name of the changed company, if an operator changed another company than their own. Present
   * only in the log of the operator's own company. `changes` is then `null`, because only the log
   * of the changed company contains the changed fields.
   */
  acted_in: z.optional(z.string()),
  /** What was done: a value of `AuditAction`, or an action that a later release has added. */
  action: z.string(),
  /** The changed item. */
  target: z.object({
    id: z.uuid(),
    /** Kind of the item, which is the first word of the action: `user`, `group`. */
    kind: z.string(),
    /**
     * Current name of the item. If the item was deleted, the name that `changes` contains. `null`
     * if the name is unknown.
     */
    name: z.nullable(z.string())
  }),
  /** The changed fields. `null` if the entry has none or if they were erased. */
  changes: z.nullable(z.array(AuditChange)),
  /** Names of the people, groups and categories that the changed fields contain as ids. */
  names: z.array(z.object({ id: z.uuid(), name: z.string() })),
  /** Whether the changed fields were erased, because the person whom they concern was deleted. */
  erased: z.boolean()
})
export type AuditLogEntry = z.infer<typeof AuditLogEntry>

const filter = {
  id: Id,
  /** Language of the names of categories. English when absent. */
  locale: z.optional(z.enum(['en', 'fr'])),
  /** Only changes by this person, or that concern this person, such as a new group. */
  person: z.optional(Id),
  /** Only changes by this person. */
  actor: z.optional(Id),
  /**
   * Only changes of the item with this id, such as a group. For a person, the list also contains
   * the imports that created or changed the person.
   */
  target: z.optional(Id),
  action: z.optional(AuditAction),
  /** Only changes at this time or later. */
  from: z.optional(z.iso.datetime({ offset: true })),
  /** Only changes before this time. */
  to: z.optional(z.iso.datetime({ offset: true }))
}

/** Lists the entries of a company's audit log that match the filter, newest first. */
export const listAuditEntries = listEndpoint({
  path: '/company/{id}/audit',
  access: 'admin',
  item: AuditLogEntry,
  input: filter
})

/**
 * Exports the entries of a company's audit log that match the filter as one CSV file, oldest first.
 * The file is UTF-8 with a byte order mark. Each line contains the hash of the entry and the text
 * that was hashed, so that anybody can check the log.
 */
export const exportAuditEntries = nonJsonEndpoint({
  method: 'GET',
  path: '/company/{id}/audit/export',
  access: 'admin',
  input: z.strictObject(filter),
  message: z.void()
})

export const auditCalls = { listAuditEntries }

export const nonJsonAuditEndpoints = { exportAuditEntries }
