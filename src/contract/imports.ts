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

/** Limits of an import. Pages show them before somebody chooses a file. */
export const importLimits = {
  /** Maximum number of rows of an import. */
  rows: 100_000,
  /**
   * Maximum size of the file in bytes. The stored cells of an import together have the same maximum
   * size.
   */
  bytes: 25_000_000,
  /** Maximum number of rows in one call of `storeImportRows`. */
  rowsPerCall: 500,
  /** Maximum size in bytes of the JSON body of one call of `storeImportRows`. */
  bytesPerCall: 2 * 1024 * 1024,
  /**
   * Maximum number of JSON values in the body of one call of `storeImportRows`. Each row, each
   * cell, each group name in a cell and each list counts as one value. The same limit applies to
   * the JSON body of every API call.
   */
  valuesPerCall: 10_000,
  /**
   * Maximum number of unfinished imports of a company: imports in any state but `done` and
   * `undone`.
   */
  open: 20,
  /**
   * Maximum number of characters of an e-mail, username, language or group in a row. A row with a
   * longer text is stored with this text shortened, and the check then refuses the row.
   */
  cell: 1_000,
  /**
   * Maximum number of groups in one row. Also the maximum number of groups in the options of an
   * import (`UserImportOptions`).
   */
  groups: 50,
  /** Maximum number of unknown groups that are named as reasons why a row is refused. */
  unknownGroups: 5,
  /** Maximum number of imports of a company that are kept, in any state. */
  kept: 200,
  /**
   * Number of days from the creation of an import until the import and its rows are erased. Until
   * then the import can be undone.
   */
  days: 30
} as const

/**
 * State of an import:
 * - `open`: rows are being stored.
 * - `checking`, `running`, `undoing`: a job is working; `progress` says how far it is.
 * - `checked`: every row has a verdict. Rows can be corrected, and the import can run.
 * - `done`: the run has ended; `result` says what it did, unless counting it has failed. An import
 *   whose undo has failed returns to this state, and `failure` says why.
 * - `failed`: the check or the run has failed, and `failure` says why. It has changed no person. A
 *   new check is possible.
 * - `undone`: the undo has ended; `undone` says what it did.
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

/**
 * What the import does with a row when it runs. `new`: it creates a person from the row. `changed`:
 * it changes an existing person. `unchanged`: nothing, because the person has these values already.
 * `refused`: nothing, for the reasons in `reasons`. `skipped`: nothing, because an administrator
 * has skipped the row with `skipImportRows`.
 */
export const ImportRowVerdict = z.enum(['new', 'changed', 'unchanged', 'refused', 'skipped'])
export type ImportRowVerdict = z.infer<typeof ImportRowVerdict>

/** Number of rows with each verdict after a check. */
export const ImportCounts = z.object({
  new: z.number(),
  changed: z.number(),
  unchanged: z.number(),
  refused: z.number(),
  skipped: z.number()
})
export type ImportCounts = z.infer<typeof ImportCounts>

/** Counts of 0 for every verdict, for an import that has no counts yet. */
export const zeroImportCounts: ImportCounts = {
  new: 0,
  changed: 0,
  unchanged: 0,
  refused: 0,
  skipped: 0
}

/**
 * Why the check, the run or the undo of an import has failed:
 * - `changed_meanwhile`: people or groups of the company have changed since the check, for example
 *   because somebody has invited a person of the file.
 * - `too_many_people`: the company would have more people than it may have.
 * - `interrupted`: an error occurred in the server, which has logged it.
 *
 * A failed check, run or undo has changed no person.
 */
export const ImportFailureReason = z.enum(['changed_meanwhile', 'too_many_people', 'interrupted'])
export type ImportFailureReason = z.infer<typeof ImportFailureReason>

export const UserImportOptions = z.object({
  /** Ids of the groups that everybody in the file joins, besides the groups of each row. */
  groups: z.array(z.uuid()),
  /** Whether the run mails invitations to the people that it creates. */
  send_invitations: z.boolean(),
  /**
   * Language of the people without a language in their row. `null`: the language of their browser.
   */
  locale: z.nullable(z.enum(['en', 'fr']))
})

/** An import with its state and counts. */
export const Import = z.object({
  id: z.uuid(),
  file_name: z.string(),
  created: z.iso.datetime(),
  /**
   * Name of the person who created the import. `null`: the person has been deleted, or is an operator
   * who belongs to another company.
   */
  created_by: z.nullable(z.string()),
  state: ImportState,
  options: UserImportOptions,
  /** Total number of rows in the file, without its header. */
  rows: z.number(),
  /** Number of rows that have been stored so far. */
  stored: z.number(),
  /**
   * Progress of the job that checks, runs or undoes the import: the number of processed rows
   * (`done`) and the number of all rows (`total`). `null` unless the state is `checking`, `running`
   * or `undoing`.
   */
  progress: z.nullable(z.object({ done: z.number(), total: z.number() })),
  /** Number of rows with each verdict. `null` until a check has ended. */
  counts: z.nullable(ImportCounts),
  /**
   * Why the check or the run has failed (state `failed`), or why an undo has failed (state `done`).
   * Otherwise `null`.
   */
  failure: z.nullable(ImportFailureReason),
  /**
   * What the run did, counted in the database after the commit of the run. `created`: people whom
   * the import has created. `changed`: existing people who now have the values of their rows.
   * `unchanged`: rows whose values the people had already. `skipped`: rows that were refused or
   * skipped. `differs`: whether these numbers differ from `counts`; pages then show an error.
   * `null` before the run has ended, and if counting has failed.
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
   * What the undo of the import did. `removed`: people whom it removed. `restored`: people who have
   * all their former values again. `kept`: all other people whom the import created or changed.
   * `listImportRows` with `kept` lists the reasons. `null` before the undo has ended.
   */
  undone: z.nullable(z.object({ removed: z.number(), restored: z.number(), kept: z.number() })),
  /** Time until which the import can be undone. At this time the import and its rows are erased. */
  expires: z.iso.datetime()
})
export type Import = z.infer<typeof Import>

/** The columns of an import of people. */
export const UserImportColumn = z.enum(['email', 'username', 'groups', 'locale'])
export type UserImportColumn = z.infer<typeof UserImportColumn>

/**
 * Why a row is refused. The list shows the codes of each column. Codes may be added, but never
 * renamed or reused.
 * - `email`: `required`, `format`, `too_long`; `duplicate` (an earlier row has the same e-mail, and
 *   `row` is its number); `administrator` (the person is an administrator or operator, whom an
 *   import cannot change); `disabled` (the person is disabled); `deleted` (the person was deleted);
 *   `changed_meanwhile` (the person was invited or changed after the check, so the run skipped the
 *   row).
 * - `username`: `format` (control characters or nothing visible), `too_long`.
 * - `groups`: `unknown` (no group has the name `value`; at most five are named), `too_many`.
 * - `locale`: `unknown` (neither English nor French).
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

/**
 * Why an undo did not remove a person, or did not restore all values of a person. `activated`: the
 * person has activated the account. `changed`: somebody has changed values that the import had set,
 * and the undo restored only the other values. `administrator`: the person has become an
 * administrator. `deleted`: the person has been deleted.
 */
export const NotUndoneReason = z.enum(['activated', 'changed', 'administrator', 'deleted'])
export type NotUndoneReason = z.infer<typeof NotUndoneReason>

/** The cells of a row as the caller sends them. An absent or empty cell changes nothing. */
const UserCells = {
  /**
   * The e-mail, in any spelling that the sign-in accepts. It identifies the person. A link
   * (`mailto:iris@example.com`) and a mailbox (`Iris Vale <iris@example.com>`) are also accepted.
   * Invisible marks at both ends of all cells are ignored.
   */
  email: z.string(),
  /** The person's name. If absent, a new person gets the part of the e-mail before the `@`. */
  username: z.optional(z.string()),
  /**
   * Names of groups that the person joins. Upper and lower case and accents do not matter. The
   * person also stays in all earlier groups. A new person joins the default group if neither the
   * row nor the options of the import name a group.
   */
  groups: z.optional(z.array(z.string()).check(z.maxLength(1_000))),
  /**
   * The person's language: its code (`en`, `fr`, `fr-FR`), or its name in English or French
   * (`French`, `Français`).
   */
  locale: z.optional(z.string())
}

/** A stored row of an import of people. */
export const UserImportRow = z.object({
  /** The number of the row in the file. The first row after the header is 1. */
  row: z.number(),
  cells: z.object(UserCells),
  /** What the run does with the row. `null` before the check. */
  verdict: z.nullable(ImportRowVerdict),
  /**
   * Why the row is refused. For a skipped row: why the row would be refused if it were not skipped.
   * Empty if nothing is wrong.
   */
  reasons: z.array(
    z.object({
      column: UserImportColumn,
      code: ImportRowReasonCode,
      value: z.optional(z.string()),
      row: z.optional(z.number())
    })
  ),
  /**
   * Why the undo of the import did not remove the person, or did not restore all values of the
   * person. `null` in all other cases, and before an undo.
   */
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

/**
 * Creates an import of people. It has no rows yet. Fails with `too_many_imports` if the company has
 * 20 imports that are neither done nor undone, and with `too_many_kept_imports` if it has 200 imports
 * in all.
 */
export const createImport = endpoint({
  method: 'POST',
  path: '/user/import',
  access: 'admin',
  status: 201,
  idempotency: 'honoured',
  input: z.strictObject({
    file_name: textLineSchema(255),
    /** The number of rows of the file, without its header. */
    rows: z.int().check(z.gte(1), z.lte(importLimits.rows)),
    /** The size of the file, or of the pasted text, in bytes. */
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

/** Returns an import with its state and counts. */
export const getImport = endpoint({
  method: 'GET',
  path: '/user/import/{id}',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: Import
})

/**
 * Stores consecutive rows of an import, the first under the number `from`. Overwrites rows that are
 * stored already. Faulty cells are stored, too: only the check finds them. If the import has been
 * checked already, these rows and all rows with the same e-mails get new verdicts before the call
 * returns. Fails with `import_state` unless the state is `open`, `checked` or `failed`, and with
 * `too_many_import_bytes` if all imports of the company together would take up too much.
 */
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
 * Returns at most `limit` stored rows (100 if absent) in the order of the file, beginning after the
 * row number `after`. With `verdict`, returns only rows with this verdict. With `kept`, returns
 * only rows whose changes the undo did not revert completely. `next` is the value of `after` for
 * the next call, or `null` if no more rows follow.
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

/**
 * Starts the check of all rows. Fails with `import_incomplete` if rows are missing, and with
 * `import_state` unless the state is `open`, `checked` or `failed`.
 */
export const checkImport = endpoint({
  method: 'POST',
  path: '/user/import/{id}/check',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id }),
  output: Import,
  errors: ['import_state', 'import_incomplete']
})

/**
 * Marks rows as skipped, so that the run leaves them out. `skip: false` removes the mark. Before
 * the call returns, these rows and all rows with the same e-mails get new verdicts: if the first of
 * two rows with the same e-mail is skipped, the second is no longer a duplicate. A later check
 * keeps the marks, but `storeImportRows` removes them from the rows that it overwrites. Fails with
 * `import_state` unless the state is `checked`.
 */
export const skipImportRows = endpoint({
  method: 'POST',
  path: '/user/import/{id}/skip',
  access: 'admin',
  input: z.strictObject({
    id: Id,
    /** The numbers of the rows. */
    rows: z
      .array(z.int().check(z.gte(1), z.lte(importLimits.rows)))
      .check(z.minLength(1), z.maxLength(importLimits.rowsPerCall)),
    skip: z.boolean()
  }),
  output: Import,
  errors: ['import_state']
})

/**
 * Starts the run of a checked import. Fails with `too_many_people` if the company would have more
 * people than it may have. With `skip_refused`, the run leaves out refused rows, and
 * rows whose person was invited or changed after the check. Without `skip_refused`, the run makes
 * either all changes or none, and the call fails with `import_refused_rows` if a row is refused. A
 * run never grants a permission, never changes a password and never changes an administrator. Fails
 * with `import_state` unless the state is `checked`.
 */
export const runImport = endpoint({
  method: 'POST',
  path: '/user/import/{id}/run',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id, skip_refused: z.boolean() }),
  output: Import,
  errors: ['import_state', 'import_refused_rows', 'too_many_people']
})

/**
 * Starts the undo of a run. The undo removes people whom the import has created, unless they have
 * activated their account. It restores the former values of people whom the import has changed,
 * except values that somebody has changed since. It does not change people who have become
 * administrators. Fails with `import_state` unless the state is `done`.
 */
export const undoImport = endpoint({
  method: 'POST',
  path: '/user/import/{id}/undo',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id }),
  output: Import,
  errors: ['import_state']
})

/**
 * Erases an import with its rows. The changes that its run has made stay, and they can no longer be
 * undone. Fails with `import_state` while a job works on the import.
 */
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
