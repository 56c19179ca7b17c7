import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { textLineSchema } from './kit/text-checks.ts'

/** What the members of a group may do in addition to verifying documents. */
export const GroupFeature = z.enum(['deposit'])
export type GroupFeature = z.infer<typeof GroupFeature>

/**
 * Length of the period after which the count of a group's requests (deposits and verifications)
 * begins again at 0, as an ISO 8601 duration.
 */
export const LimitInterval = z.enum(['P1D', 'P30D', 'P1Y'])
export type LimitInterval = z.infer<typeof LimitInterval>

/**
 * How many requests (deposits and verifications) of the current period and how many stored bytes a
 * group has used, and how many remain. The remaining number is `null` if there is no limit.
 */
export const GroupUsage = z.object({
  requests_used: z.number(),
  requests_remaining: z.nullable(z.number()),
  storage_used: z.number(),
  storage_remaining: z.nullable(z.number()),
  /**
   * Time at which the current period ends and the count of requests begins again at 0. `null`:
   * never.
   */
  resets_at: z.nullable(z.iso.datetime())
})
export type GroupUsage = z.infer<typeof GroupUsage>

/** A group: people of a company who share features, limits and categories. */
export const Group = z.object({
  id: z.uuid(),
  version: z.number(),
  name: z.string(),
  features: z.array(GroupFeature),
  /**
   * Maximum number of requests (deposits and verifications) of the group in a period. `null`: no
   * limit.
   */
  max_requests: z.nullable(z.number()),
  /**
   * Length of the period of `max_requests`. `null`: the limit counts all requests since the group
   * was created.
   */
  max_requests_interval: z.nullable(LimitInterval),
  /** Maximum number of bytes that the group may store. `null`: no limit. */
  max_storage: z.nullable(z.number()),
  /** Whether new people of the company join this group. A company has exactly one such group. */
  is_default: z.boolean(),
  created: z.iso.datetime(),
  user_count: z.number(),
  /** Number of categories that the members of the group may use. */
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

/**
 * A group's name: 1 to 80 characters. Two groups of a company may not have names that differ only
 * in case or accents.
 */
const Name = textLineSchema(80)

/**
 * Lists the groups of a company, by name unless `sort` says otherwise. `category` limits the list
 * to the groups whose members may use the category.
 */
export const listGroups = listEndpoint({
  path: '/company/{id}/groups',
  access: 'admin',
  item: Group,
  input: { id: Id, q: SearchText, sort: sortParameter('name', 'created'), category: z.optional(Id) }
})

/**
 * Creates a group without members and categories. A limit that the input leaves out is `null`: no
 * limit.
 */
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

/** Returns a group with its usage. */
export const getGroup = endpoint({
  method: 'GET',
  path: '/group/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: Group
})

/**
 * Changes a group. Fields that the input does not contain stay unchanged. A limit may be lower than
 * what the group has used already. The group is then blocked until its period ends or the limit is
 * raised. `is_default: true` makes the group the company's only default group.
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
 * Deletes a group. Fails with `in_use` if the group has members or API keys, or if a deposit or
 * verification counts towards its limits. Fails with `default_group_needed` for the default group.
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

/**
 * Adds a person to a group. Adding a member again changes nothing. A person is a member of at most
 * 100 groups.
 */
export const addGroupUser = endpoint({
  method: 'POST',
  path: '/group/{groupId}/user',
  access: 'admin',
  input: z.strictObject({ groupId: Id, user_id: Id }),
  output: z.void(),
  errors: ['email_unconfirmed', 'too_many_groups']
})

/**
 * Removes a person from a group. The requests and the storage that the person has used still count
 * towards the group's limits.
 */
export const removeGroupUser = endpoint({
  method: 'DELETE',
  path: '/group/{groupId}/user/{userId}',
  access: 'admin',
  input: z.strictObject({ groupId: Id, userId: Id }),
  output: z.void(),
  errors: ['email_unconfirmed']
})

/** Allows the members of a group to use a category. Allowing it again changes nothing. */
export const addGroupCategory = endpoint({
  method: 'POST',
  path: '/group/{groupId}/category',
  access: 'admin',
  input: z.strictObject({ groupId: Id, category_id: Id }),
  output: z.void(),
  errors: ['default_group_private']
})

/**
 * Removes a category from those that a group allows. Members can still use the category if another
 * of their groups allows it. Existing deposits in the category do not change.
 */
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
