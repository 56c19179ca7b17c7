import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { list, Search, sortBy } from './lists.ts'
import { textLine } from './text-checks.ts'

/** What the members of a group may do besides verifying. */
export const GroupFeature = z.enum(['deposit'])
export type GroupFeature = z.infer<typeof GroupFeature>

/** How often the count of requests begins again, as an ISO 8601 duration. */
export const LimitInterval = z.enum(['P1D', 'P30D', 'P1Y'])
export type LimitInterval = z.infer<typeof LimitInterval>

/** What a group has used in its present period. `null` remaining: unlimited. */
export const GroupUsage = z.object({
  requests_used: z.number(),
  requests_remaining: z.nullable(z.number()),
  storage_used: z.number(),
  storage_remaining: z.nullable(z.number()),
  /** When the period of requests ends, or `null` where it never does. */
  resets_at: z.nullable(z.iso.datetime())
})
export type GroupUsage = z.infer<typeof GroupUsage>

/** People of a company who share features, limits and categories. */
export const Group = z.object({
  id: z.uuid(),
  version: z.number(),
  name: z.string(),
  features: z.array(GroupFeature),
  /** `null`: unlimited. */
  max_requests: z.nullable(z.number()),
  /** `null`: `max_requests` is a total. */
  max_requests_interval: z.nullable(LimitInterval),
  /** Bytes. `null`: unlimited. */
  max_storage: z.nullable(z.number()),
  /** New people join this group. A company has exactly one. */
  is_default: z.boolean(),
  created: z.iso.datetime(),
  user_count: z.number(),
  /** The categories that its members may use, oldest first. */
  category_ids: z.array(z.uuid()),
  usage: GroupUsage
})
export type Group = z.infer<typeof Group>

const Limit = z.nullable(z.number().check(z.int(), z.gte(0)))

const settings = {
  features: z.optional(z.array(GroupFeature).check(z.maxLength(GroupFeature.options.length))),
  max_requests: z.optional(Limit),
  max_requests_interval: z.optional(z.nullable(LimitInterval)),
  max_storage: z.optional(Limit)
}

/** 1 to 80 characters, which no other group of the company has, regardless of case and accents. */
const Name = textLine(80)

/** Lists the groups of a company, by name unless `sort` says otherwise. */
export const listGroups = list({
  path: '/company/{id}/groups',
  access: 'admin',
  item: Group,
  input: { id: z.uuid(), q: Search, sort: sortBy('name', 'created') }
})

/** Creates a group without members and categories. Limits that are left out are unlimited. */
export const createGroup = endpoint({
  method: 'POST',
  path: '/group',
  access: 'admin',
  status: 201,
  idempotency: 'honoured',
  versioned: 'settings',
  input: z.strictObject({ name: Name, ...settings }),
  output: Group,
  errors: ['name_taken', 'idempotency_in_flight', 'idempotency_key_reused']
})

export const getGroup = endpoint({
  method: 'GET',
  path: '/group/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: z.uuid() }),
  output: Group
})

/**
 * Replaces the fields in the input. A limit may be set below what is used: the group then takes no
 * more until its period ends or the limit is raised. `is_default` makes this group the default in
 * place of the present one.
 */
export const updateGroup = endpoint({
  method: 'PUT',
  path: '/group/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({
    id: z.uuid(),
    name: z.optional(Name),
    ...settings,
    is_default: z.optional(z.literal(true))
  }),
  output: Group,
  errors: ['changed_meanwhile', 'name_taken', 'default_group_private']
})

/** Deletes a group that nobody is in and nothing was charged to. */
export const deleteGroup = endpoint({
  method: 'DELETE',
  path: '/group/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: z.uuid() }),
  output: z.void(),
  errors: ['changed_meanwhile', 'in_use', 'default_group_needed']
})

/** Adds a person to a group. Adding a member again changes nothing. */
export const addGroupUser = endpoint({
  method: 'POST',
  path: '/group/{groupId}/user',
  access: 'admin',
  input: z.strictObject({ groupId: z.uuid(), user_id: z.uuid() }),
  output: z.void()
})

/** Removes a person from a group. What was charged to the group stays charged to it. */
export const removeGroupUser = endpoint({
  method: 'DELETE',
  path: '/group/{groupId}/user/{userId}',
  access: 'admin',
  input: z.strictObject({ groupId: z.uuid(), userId: z.uuid() }),
  output: z.void()
})

/** Lets the members of a group use a category. Allowing it again changes nothing. */
export const addGroupCategory = endpoint({
  method: 'POST',
  path: '/group/{groupId}/category',
  access: 'admin',
  input: z.strictObject({ groupId: z.uuid(), category_id: z.uuid() }),
  output: z.void(),
  errors: ['default_group_private']
})

/** Takes a category from a group. Deposits in the category stay as they are. */
export const removeGroupCategory = endpoint({
  method: 'DELETE',
  path: '/group/{groupId}/category/{categoryId}',
  access: 'admin',
  input: z.strictObject({ groupId: z.uuid(), categoryId: z.uuid() }),
  output: z.void()
})

export const groupCalls = {
  listGroups,
  createGroup,
  getGroup,
  updateGroup,
  deleteGroup,
  addGroupUser,
  removeGroupUser,
  addGroupCategory,
  removeGroupCategory
}
