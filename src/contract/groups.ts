import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { textLineSchema } from './kit/text-checks.ts'

/** What members may do besides verifying. */
export const GroupFeature = z.enum(['deposit'])
export type GroupFeature = z.infer<typeof GroupFeature>

/** After it, the count of a group's requests begins again at 0. */
export const LimitInterval = z.enum(['P1D', 'P30D', 'P1Y'])
export type LimitInterval = z.infer<typeof LimitInterval>

/** Requests are deposits and verifications of the current period. `null`: no limit. */
export const GroupUsage = z.object({
  requests_used: z.number(),
  requests_remaining: z.nullable(z.number()),
  storage_used: z.number(),
  storage_remaining: z.nullable(z.number()),
  resets_at: z.nullable(z.iso.datetime())
})
export type GroupUsage = z.infer<typeof GroupUsage>

export const Group = z.object({
  id: z.uuid(),
  version: z.number(),
  name: z.string(),
  features: z.array(GroupFeature),
  // deposits and verifications in a period
  max_requests: z.nullable(z.number()),
  // `null`: one period since the group was created
  max_requests_interval: z.nullable(LimitInterval),
  max_storage: z.nullable(z.number()),
  // new people join it; a company has exactly one
  is_default: z.boolean(),
  created: z.iso.datetime(),
  user_count: z.number(),
  category_count: z.number(),
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

// unique in a company, regardless of case and accents
const Name = textLineSchema(80)

/**
 * Lists the groups of a company, or those that may use one `category`, with their limits and what
 * they have used. `q` holds words from a name.
 */
export const listGroups = listEndpoint({
  path: '/company/{id}/groups',
  access: 'admin',
  item: Group,
  input: { id: Id, q: SearchText, sort: sortParameter('name', 'created'), category: z.optional(Id) }
})

/** Creates a group without members and categories. A limit left out is unlimited. */
export const createGroup = endpoint({
  method: 'POST',
  path: '/group',
  access: 'admin',
  status: 201,
  idempotency: 'honoured',
  versioned: 'settings',
  input: z.strictObject({ name: Name, ...settings }),
  output: Group,
  errors: ['name_taken', 'too_many_groups', 'idempotency_in_flight', 'idempotency_key_reused']
})

/** Shows a group, its limits and what it has used. */
export const getGroup = endpoint({
  method: 'GET',
  path: '/group/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: Group
})

/**
 * Changes the fields it names. New limits apply at once, also below what is used. With `If-Match`,
 * it changes only the version you have seen.
 */
export const updateGroup = endpoint({
  method: 'PUT',
  path: '/group/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({
    id: Id,
    name: z.optional(Name),
    ...settings,
    is_default: z.optional(z.literal(true))
  }),
  output: Group,
  errors: ['changed_meanwhile', 'name_taken', 'default_group_private']
})

/**
 * Deletes a group that has no members and no keys, and to which nothing was charged. The default
 * group stays.
 */
export const deleteGroup = endpoint({
  method: 'DELETE',
  path: '/group/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['changed_meanwhile', 'in_use', 'default_group_needed']
})

/** Adds a person to a group. */
export const addGroupUser = endpoint({
  method: 'POST',
  path: '/group/{groupId}/user',
  access: 'admin',
  input: z.strictObject({ groupId: Id, user_id: Id }),
  output: z.void(),
  errors: ['email_unconfirmed', 'too_many_groups']
})

/** Removes a person from a group. What was charged to the group stays charged to it. */
export const removeGroupUser = endpoint({
  method: 'DELETE',
  path: '/group/{groupId}/user/{userId}',
  access: 'admin',
  input: z.strictObject({ groupId: Id, userId: Id }),
  output: z.void(),
  errors: ['email_unconfirmed']
})

/** Lets the members of a group use a category. */
export const addGroupCategory = endpoint({
  method: 'POST',
  path: '/group/{groupId}/category',
  access: 'admin',
  input: z.strictObject({ groupId: Id, category_id: Id }),
  output: z.void(),
  errors: ['default_group_private']
})

/** Takes a category from a group. Deposits made in it stay as they are. */
export const removeGroupCategory = endpoint({
  method: 'DELETE',
  path: '/group/{groupId}/category/{categoryId}',
  access: 'admin',
  input: z.strictObject({ groupId: Id, categoryId: Id }),
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
