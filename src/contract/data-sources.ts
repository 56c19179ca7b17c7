import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { registerLimits } from './kit/limits.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { patternCheck, textLineSchema } from './kit/text-checks.ts'
import { ColumnLabels, RegisterColumn } from './registers.ts'

// A data source is a register of a company, in which verification also looks: a list of fingerprints
// or of references such as the numbers of diplomas. Its rows come from imports
// (`register-imports.ts`); each run of an import makes a new version of the list.

/** The state of a register's list after a run or an undo. */
export const RegisterVersion = z.object({
  // from 1; never goes back
  number: z.int(),
  created: z.iso.datetime(),
  // `null` for deleted people, keys and operators of another company
  created_by: z.nullable(z.string()),
  // `undo`: the list of an earlier version, again
  mode: z.enum(['replace', 'append', 'undo']),
  rows: z.int(),
  // against the version before
  added: z.int(),
  changed: z.int(),
  removed: z.int(),
  // at the end of their time, the rows of older versions are erased
  erased: z.boolean()
})
export type RegisterVersion = z.infer<typeof RegisterVersion>

export const DataSource = z.object({
  id: z.uuid(),
  // of the settings
  version: z.number(),
  name: z.string(),
  kind: z.enum(['csv']),
  // sources are named to people in this order
  position: z.int(),
  created: z.iso.datetime(),
  // those of the last import that ran; empty before the first
  columns: z.array(RegisterColumn),
  // `null` before the first run
  current: z.nullable(RegisterVersion),
  // when an import last ran, even if it changed nothing
  checked: z.nullable(z.iso.datetime()),
  // categories for whose documents it answers
  category_count: z.number()
})
export type DataSource = z.infer<typeof DataSource>

// unique in a company, regardless of case and accents
const Name = textLineSchema(80)
const Position = z.int().check(z.gte(0), z.lte(1_000))

/**
 * Lists the data sources of a company, or those that answer for the documents of a `category`. `q`
 * holds words from their names.
 */
export const listDataSources = listEndpoint({
  path: '/company/{id}/data_sources',
  access: 'admin',
  scopes: ['registers'],
  item: DataSource,
  input: {
    id: Id,
    q: SearchText,
    sort: sortParameter('name', 'created'),
    category: z.optional(Id)
  }
})

/** Creates a data source without rows. An import fills it. */
export const createDataSource = endpoint({
  method: 'POST',
  path: '/data_source',
  access: 'admin',
  status: 201,
  idempotency: 'honoured',
  versioned: 'settings',
  input: z.strictObject({ name: Name, position: z.optional(Position) }),
  output: DataSource,
  errors: ['name_taken', 'too_many_data_sources', 'idempotency_in_flight', 'idempotency_key_reused']
})

/** Shows a data source: its columns, its current version and when it was last imported. */
export const getDataSource = endpoint({
  method: 'GET',
  path: '/data_source/{id}',
  access: 'admin',
  scopes: ['registers'],
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: DataSource
})

/**
 * Changes the fields it names. `labels` has the labels of columns by their `index`. With `If-Match`,
 * it changes only the version you have seen.
 */
export const updateDataSource = endpoint({
  method: 'PUT',
  path: '/data_source/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({
    id: Id,
    name: z.optional(Name),
    position: z.optional(Position),
    labels: z.optional(
      z
        .array(z.strictObject({ index: z.int().check(z.gte(0), z.lte(999)), labels: ColumnLabels }))
        .check(z.maxLength(registerLimits.columns))
    )
  }),
  output: DataSource,
  errors: ['changed_meanwhile', 'name_taken']
})

/** Deletes a data source with its rows. Categories must no longer name it. */
export const deleteDataSource = endpoint({
  method: 'DELETE',
  path: '/data_source/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['changed_meanwhile', 'in_use']
})

/** Lists the versions of a register, newest first. `cursor` is the number of a version. */
export const listRegisterVersions = listEndpoint({
  path: '/data_source/{id}/versions',
  access: 'admin',
  scopes: ['registers'],
  item: RegisterVersion,
  // the number of a version
  cursor: z.string().check(patternCheck(/^[1-9][0-9]{0,8}$/, 'the number of a version')),
  input: { id: Id }
})

export const dataSourceCalls = {
  listDataSources,
  createDataSource,
  getDataSource,
  updateDataSource,
  deleteDataSource,
  listRegisterVersions
}
