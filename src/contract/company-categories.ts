import * as z from 'zod/mini'
import { Category, KeepOriginalsSetting, Visibility } from './categories.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { maxCodeUnitsCheck, patternCheck, textLineSchema } from './kit/text-checks.ts'
import { StoredContentKind } from './requests.ts'

// In a separate file from `categories.ts`, because browsers load these calls only on pages of the
// administration.

/** One unit only: `P90D`, `P18M`, `P10Y`. */
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

export const CategoryDetails = z.object({
  ...Category.shape,
  version: z.number(),
  created: z.iso.datetime(),
  group_count: z.number()
})
export type CategoryDetails = z.infer<typeof CategoryDetails>

// unique in a company and language, regardless of case and accents
const Name = textLineSchema(80)

const settings = {
  visibility: z.optional(Visibility),
  keep_originals: z.optional(KeepOriginalsSetting),
  store: z.optional(StoredContentKind),
  media_types: z.optional(MediaTypes),
  retention: z.optional(z.nullable(Retention))
}

/**
 * Lists the categories of a company, or those of one `group`, one `visibility` or one `store`. `q`
 * holds words from their names.
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
 * Creates a category that no group may use yet. A name left out in one language is the same as in
 * the other.
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

/** Shows a category. */
export const getCategory = endpoint({
  method: 'GET',
  path: '/category/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: CategoryDetails
})

/**
 * Changes the fields it names, for deposits from then on; earlier deposits stay as they are.
 * `default` moves the default category here, or ends it. With `If-Match`, it changes only the
 * version you have seen.
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
 * Deletes a category in which nobody has deposited and that no group may use. The default category
 * stays.
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
