import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint } from './kit/lists.ts'
import { textLineSchema } from './kit/text-checks.ts'

// An import brings the rows of a table into a company in four steps:
// 1. `createImport`, then `storeImportRows` until all rows are stored. The rows are parsed by the
//    caller; the server takes every cell as text.
// 2. `checkImport`, a dry run. It gives each row a verdict and changes nothing else. The caller can
//    then correct rows with `storeImportRows`, which checks them again, or leave rows out with
//    `skipImportRows`.
// 3. `runImport` does what the verdicts say: everything in one transaction, or nothing.
// 4. `undoImport`, for 30 days.
// Check, run and undo work in the background: their calls return 202, and `getImport` shows how far
// they are. Each row of an import is a person. Schemas that depend on this have `User` in their
// names.

export const importLimits = {
  rows: 100_000,
  // of the file, and of all its stored cells together
  bytes: 25_000_000,
  rowsPerCall: 500,
  bytesPerCall: 2 * 1024 * 1024,
  // rows, cells, names of groups and lists; every JSON body has this limit
  valuesPerCall: 10_000,
  // neither `done` nor `undone`
  open: 20,
  // characters; longer texts are stored shortened, and the check refuses their row
  cell: 1_000,
  // in one row, and in the options of an import
  groups: 50,
  // named as reasons of one refused row
  unknownGroups: 5,
  kept: 200,
  // from the creation of an import until it is erased and cannot be undone
  days: 30
} as const

/**
 * In `checked`, rows can be corrected and the import can run. After a failed undo, the state is
 * `done` again. In `failed`, nothing has changed and a new check is possible.
 */
export const ImportState = z.enum([
  'open',
  'checking',
  'checked',
  'running',
  'done',
  'failed',
  'undoing',
  'undone'
])
export type ImportState = z.infer<typeof ImportState>

/** What a run does with the row. `skipped`: left out by `skipImportRows`. */
export const ImportRowVerdict = z.enum(['new', 'changed', 'unchanged', 'refused', 'skipped'])
export type ImportRowVerdict = z.infer<typeof ImportRowVerdict>

export const ImportCounts = z.object({
  new: z.number(),
  changed: z.number(),
  unchanged: z.number(),
  refused: z.number(),
  skipped: z.number()
})
export type ImportCounts = z.infer<typeof ImportCounts>

export const zeroImportCounts: ImportCounts = {
  new: 0,
  changed: 0,
  unchanged: 0,
  refused: 0,
  skipped: 0
}

/**
 * `changed_meanwhile`: people or groups have changed since the check. `interrupted`: an error that
 * the server has logged. No person has then been changed.
 */
export const ImportFailureReason = z.enum(['changed_meanwhile', 'too_many_people', 'interrupted'])
export type ImportFailureReason = z.infer<typeof ImportFailureReason>

export const UserImportOptions = z.object({
  // besides those of each row
  groups: z.array(z.uuid()),
  send_invitations: z.boolean(),
  // of people without one in their row; `null`: that of their browser
  locale: z.nullable(z.enum(['en', 'fr']))
})

export const Import = z.object({
  id: z.uuid(),
  file_name: z.string(),
  created: z.iso.datetime(),
  // `null` for deleted people and operators of another company
  created_by: z.nullable(z.string()),
  state: ImportState,
  options: UserImportOptions,
  // of the file, without its header
  rows: z.number(),
  stored: z.number(),
  // of the job that works
  progress: z.nullable(z.object({ done: z.number(), total: z.number() })),
  counts: z.nullable(ImportCounts),
  failure: z.nullable(ImportFailureReason),
  /**
   * Counted in the database after the commit: `skipped` with refused rows, `differs` from `counts`,
   * which pages show as an error. `null` if counting has failed.
   */
  result: z.nullable(
    z.object({
      created: z.number(),
      changed: z.number(),
      unchanged: z.number(),
      skipped: z.number(),
      differs: z.boolean()
    })
  ),
  /**
   * `kept`: people who were created or changed and not wholly undone. `listImportRows` with `kept`
   * lists the reasons.
   */
  undone: z.nullable(z.object({ removed: z.number(), restored: z.number(), kept: z.number() })),
  // undo is possible until then
  expires: z.iso.datetime()
})
export type Import = z.infer<typeof Import>

export const UserImportColumn = z.enum(['email', 'username', 'groups', 'locale'])
export type UserImportColumn = z.infer<typeof UserImportColumn>

/**
 * Shown by column. Never rename or reuse a code. `duplicate`: an earlier `row` has the same e-mail.
 * `administrator`: an import cannot change those. `changed_meanwhile`: the person changed after the
 * check, so the run skipped the row. `unknown`: no such group or language.
 */
export const ImportRowReasonCode = z.enum([
  'required',
  'format',
  'too_long',
  'duplicate',
  'administrator',
  'disabled',
  'deleted',
  'changed_meanwhile',
  'unknown',
  'too_many'
])
export type ImportRowReasonCode = z.infer<typeof ImportRowReasonCode>

/** `changed`: somebody has changed values since, and the undo restored only the others. */
export const NotUndoneReason = z.enum(['activated', 'changed', 'administrator', 'deleted'])
export type NotUndoneReason = z.infer<typeof NotUndoneReason>

const UserCells = {
  /** Identifies the person. Also `mailto:iris@example.com` and `Iris Vale <iris@example.com>`. */
  email: z.string(),
  // by default the part of the e-mail before the `@`
  username: z.optional(z.string()),
  // joined besides earlier groups; a new person without any joins the default group
  groups: z.optional(z.array(z.string()).check(z.maxLength(1_000))),
  // `en`, `fr-FR`, `French`, `Français`
  locale: z.optional(z.string())
}

export const UserImportRow = z.object({
  // the first after the header is 1
  row: z.number(),
  cells: z.object(UserCells),
  // `null` before the check
  verdict: z.nullable(ImportRowVerdict),
  // of a skipped row, why it would be refused
  reasons: z.array(
    z.object({
      column: UserImportColumn,
      code: ImportRowReasonCode,
      value: z.optional(z.string()),
      row: z.optional(z.number())
    })
  ),
  // why the undo did not revert the row completely
  kept: z.nullable(NotUndoneReason)
})
export type UserImportRow = z.infer<typeof UserImportRow>

/** Lists the imports of a company that are not erased yet, newest first. */
export const listImports = listEndpoint({
  path: '/company/{id}/imports',
  access: 'admin',
  item: Import,
  input: { id: Id }
})

/** Creates an import of people without rows. `rows` is how many follow. */
export const createImport = endpoint({
  method: 'POST',
  path: '/user/import',
  access: 'admin',
  status: 201,
  idempotency: 'honoured',
  input: z.strictObject({
    file_name: textLineSchema(255),
    // without the header
    rows: z.int().check(z.gte(1), z.lte(importLimits.rows)),
    // of the file or the pasted text
    bytes: z.int().check(z.gte(1), z.lte(importLimits.bytes)),
    groups: z.optional(z.array(Id).check(z.maxLength(importLimits.groups))),
    send_invitations: z.boolean(),
    locale: z.optional(z.enum(['en', 'fr']))
  }),
  output: Import,
  errors: [
    'host_needed',
    'idempotency_in_flight',
    'idempotency_key_reused',
    'too_many_imports',
    'too_many_kept_imports'
  ]
})

/** Shows an import: its state, how far its job is, and its counts. */
export const getImport = endpoint({
  method: 'GET',
  path: '/user/import/{id}',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: Import
})

/** Stores rows of an import, or mends them after the check. No cell makes the call fail. */
export const storeImportRows = endpoint({
  method: 'PUT',
  path: '/user/import/{id}/rows',
  access: 'admin',
  maxBytes: importLimits.bytesPerCall,
  input: z.strictObject({
    id: Id,
    from: z.int().check(z.gte(1), z.lte(importLimits.rows)),
    rows: z
      .array(z.strictObject(UserCells))
      .check(z.minLength(1), z.maxLength(importLimits.rowsPerCall))
  }),
  output: Import,
  errors: ['import_state', 'import_too_large', 'too_many_import_bytes']
})

/**
 * Lists the rows of an import with their verdicts and the reasons of refusals. `next` is the
 * `after` of the next page.
 */
export const listImportRows = endpoint({
  method: 'GET',
  path: '/user/import/{id}/rows',
  access: 'admin',
  input: z.strictObject({
    id: Id,
    verdict: z.optional(ImportRowVerdict),
    kept: z.optional(z.literal('true')),
    after: z.optional(z.coerce.number().check(z.int(), z.gte(0), z.lte(importLimits.rows))),
    limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(1_000)))
  }),
  output: z.object({ rows: z.array(UserImportRow), next: z.nullable(z.number()) })
})

/** Starts the check of all rows, a dry run that changes nothing. */
export const checkImport = endpoint({
  method: 'POST',
  path: '/user/import/{id}/check',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id }),
  output: Import,
  errors: ['import_state', 'import_incomplete']
})

/** Leaves rows of a checked import out, or takes them back. */
export const skipImportRows = endpoint({
  method: 'POST',
  path: '/user/import/{id}/skip',
  access: 'admin',
  input: z.strictObject({
    id: Id,
    rows: z
      .array(z.int().check(z.gte(1), z.lte(importLimits.rows)))
      .check(z.minLength(1), z.maxLength(importLimits.rowsPerCall)),
    skip: z.boolean()
  }),
  output: Import,
  errors: ['import_state']
})

/** Starts the run: everything, or nothing. With `skip_refused`, refused rows are left out. */
export const runImport = endpoint({
  method: 'POST',
  path: '/user/import/{id}/run',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id, skip_refused: z.boolean() }),
  output: Import,
  errors: ['import_state', 'import_refused_rows', 'too_many_people']
})

/** Starts the undo of a run: removes people who never activated, and restores former values. */
export const undoImport = endpoint({
  method: 'POST',
  path: '/user/import/{id}/undo',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id }),
  output: Import,
  errors: ['import_state']
})

/** Erases an import with its rows. What it did stays, and can no longer be undone. */
export const deleteImport = endpoint({
  method: 'DELETE',
  path: '/user/import/{id}',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['import_state']
})

export const importCalls = {
  listImports,
  createImport,
  getImport,
  storeImportRows,
  listImportRows,
  checkImport,
  skipImportRows,
  runImport,
  undoImport,
  deleteImport
}
