import * as z from 'zod/mini'
import { Category, KeepOriginalsSetting, Visibility } from './categories.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { maxCodeUnitsCheck, patternCheck, textLineSchema } from './kit/text-checks.ts'
import { StoredContentKind } from './requests.ts'

// In a separate file from `categories.ts`, because browsers load these calls only on pages of the
// administration.

/**
 * How long a file is stored, as an ISO 8601 duration of one unit: days, months or years (`P90D`,
 * `P18M`, `P10Y`).
 */
export const Retention = z
  .string()
  .check(
    maxCodeUnitsCheck(5),
    patternCheck(
      /^P[1-9][0-9]{0,2}[DMY]$/,
      'an ISO 8601 duration of 1 to 999 days, months or years, such as P90D'
    )
  )

const maxMediaTypes = 50

/**
 * A media type that a category accepts, such as `application/pdf`, or all types of one kind, such
 * as `image/*`.
 */
const AcceptedType = z
  .string()
  .check(
    maxCodeUnitsCheck(127),
    patternCheck(
      /^[a-z0-9][a-z0-9!#$&^_.+-]*\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]*)$/,
      'a media type in lower case, such as application/pdf or image/*'
    )
  )

const MediaTypes = z.nullable(
  z.array(AcceptedType).check(z.minLength(1), z.maxLength(maxMediaTypes, { abort: true }))
)

/** A category as the administrators of its company see it. */
export const CategoryDetails = z.object({
  ...Category.shape,
  version: z.number(),
  created: z.iso.datetime(),
  /** Number of groups whose members may use the category. */
  group_count: z.number()
})
export type CategoryDetails = z.infer<typeof CategoryDetails>

/**
 * A name of a category: 1 to 80 characters. Two categories of a company may not have names in the
 * same language that differ only in case or accents.
 */
const Name = textLineSchema(80)

const settings = {
  visibility: z.optional(Visibility),
  keep_originals: z.optional(KeepOriginalsSetting),
  store: z.optional(StoredContentKind),
  media_types: z.optional(MediaTypes),
  retention: z.optional(z.nullable(Retention))
}

/**
 * Lists the categories of a company, or only those that one of its groups may use. The order is
 * oldest first unless `sort` says otherwise. `q` searches the names in both languages. `visibility`
 * and `store` limit the list to categories with these settings.
 */
export const listCompanyCategories = listEndpoint({
  path: '/company/{id}/categories',
  access: 'admin',
  item: CategoryDetails,
  input: {
    id: Id,
    q: SearchText,
    sort: sortParameter('name_en', 'name_fr', 'created'),
    group: z.optional(Id),
    visibility: z.optional(Visibility),
    store: z.optional(StoredContentKind)
  }
})

/**
 * Creates a category that no group may use yet. If `names` lacks a language, the category has the
 * same name in both languages. By default a category is `public`, stores files of all types for an
 * unlimited time, and lets the depositor choose the quality of pictures. `receipt_only` is refused.
 */
export const createCategory = endpoint({
  method: 'POST',
  path: '/category',
  access: 'admin',
  status: 201,
  idempotency: 'honoured',
  versioned: 'settings',
  input: z.strictObject({
    names: z.union([
      z.strictObject({ en: Name, fr: z.optional(Name) }),
      z.strictObject({ fr: Name })
    ]),
    ...settings
  }),
  output: CategoryDetails,
  errors: ['name_taken', 'too_many_categories', 'idempotency_in_flight', 'idempotency_key_reused']
})

/** Returns a category of the company. */
export const getCategory = endpoint({
  method: 'GET',
  path: '/category/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: CategoryDetails
})

/**
 * Changes a category. Fields and names that the input does not contain stay unchanged: `names` may
 * contain the name in one language only. The new settings apply to later deposits only. A category
 * may stay `receipt_only`, but may not become it.
 * `default: true` makes the category the company's only default category. `default: false` leaves
 * the company without a default category.
 */
export const updateCategory = endpoint({
  method: 'PUT',
  path: '/category/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({
    id: Id,
    names: z.optional(z.strictObject({ en: z.optional(Name), fr: z.optional(Name) })),
    ...settings,
    default: z.optional(z.boolean())
  }),
  output: CategoryDetails,
  errors: ['changed_meanwhile', 'name_taken', 'default_group_private']
})

/**
 * Deletes a category. Fails with `in_use` if a deposit was ever begun in the category, if a group
 * may use it, or if it is the default category.
 */
export const deleteCategory = endpoint({
  method: 'DELETE',
  path: '/category/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['changed_meanwhile', 'in_use']
})

export const companyCategoryCalls = {
  listCompanyCategories,
  createCategory,
  getCategory,
  updateCategory,
  deleteCategory
}
