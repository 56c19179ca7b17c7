import * as z from 'zod/mini'
import { nonJsonEndpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint } from './kit/lists.ts'

/** `noun.verb`, with a sentence in `changes.json`. Never rename or reuse one. */
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

/** Acts for what the service finds by itself in its daily check of domains. */
export const serviceActorId = '00000000-0000-0000-0000-000000000000'

export const AuditChange = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })
export type AuditChange = z.infer<typeof AuditChange>

export const AuditLogEntry = z.object({
  id: z.uuid(),
  // without gaps, from 1
  seq: z.number(),
  at: z.iso.datetime(),
  actor: z.object({
    id: z.uuid(),
    // `null` for deleted accounts, and for the service itself
    name: z.nullable(z.string()),
    // of an operator of another company
    company: z.optional(z.string())
  }),
  // the changed company, in the log of the operator's own; `changes` is then only in the other log
  acted_in: z.optional(z.string()),
  // a string, because a later release may add some
  action: z.string(),
  target: z.object({
    id: z.uuid(),
    // the first word of the action
    kind: z.string(),
    // of a deleted item, the name in `changes`
    name: z.nullable(z.string())
  }),
  changes: z.nullable(z.array(AuditChange)),
  /** Of the people, groups and categories that the changed fields contain as ids. */
  names: z.array(z.object({ id: z.uuid(), name: z.string() })),
  // because the person whom they concern was deleted
  erased: z.boolean()
})
export type AuditLogEntry = z.infer<typeof AuditLogEntry>

const filter = {
  id: Id,
  // of the names of categories, English when absent
  locale: z.optional(z.enum(['en', 'fr'])),
  person: z.optional(Id),
  actor: z.optional(Id),
  // for a person, also the imports that created or changed the person
  target: z.optional(Id),
  action: z.optional(AuditAction),
  from: z.optional(z.iso.datetime({ offset: true })),
  to: z.optional(z.iso.datetime({ offset: true }))
}

/**
 * Lists who changed what in a company, newest first, with the fields before and after. A filter on
 * a person, an item, an action or a time returns fewer entries.
 */
export const listAuditEntries = listEndpoint({
  path: '/company/{id}/audit',
  access: 'admin',
  item: AuditLogEntry,
  input: filter
})

/**
 * Returns everything that `listAuditEntries` pages through, oldest first, as one CSV file with the
 * hash of each entry. The documentation of the audit log says how to check them.
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
