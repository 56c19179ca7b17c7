import * as z from 'zod/mini'
import { endpoint, nonJsonEndpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { registerLimits } from './kit/limits.ts'
import { listEndpoint } from './kit/lists.ts'
import { customCheck, maxCodeUnitsCheck, patternCheck, textLineSchema } from './kit/text-checks.ts'
import { RegisterColumns } from './registers.ts'

// An import brings the rows of a CSV file into a register:
// 1. `createRegisterImport` answers with an upload address, to which the bytes go (tus), or is given an
//    address from which the service fetches the file. `putRegisterImport` has the bytes as its body.
// 2. The rows are read into a segment to which no version refers, and then compared with the current
//    version, a dry run. `getRegisterImport` shows how far it is.
// 3. `runRegisterImport` makes a new version that refers to the segment; `undoRegisterImport` makes
//    one that refers to the segments from before.
// Reading works in the background. A run or an undo only moves a pointer, so its call is its end.

/** How a file of rows is written. `first_row` is its first row after a title, from 1. */
export const CsvDialectInput = z.strictObject({
  delimiter: z
    .string()
    .check(
      maxCodeUnitsCheck(1),
      patternCheck(/^(?:\t|[^"\p{C}])$/u, 'a tab or a visible character')
    ),
  encoding: z.string().check(patternCheck(/^[\w.:-]{1,32}$/, 'the name of an encoding')),
  newline: z.enum(['\n', '\r\n', '\r', 'mixed']),
  has_header: z.boolean(),
  first_row: z.int().check(z.gte(1), z.lte(1_000))
})
export type CsvDialectInput = z.infer<typeof CsvDialectInput>

const fileAddress = /^https?:\/\/[^\s<>"]+$/
const isFileAddress = 'an address that begins with https://'

const FileAddress = z.string().check(
  maxCodeUnitsCheck(2_000),
  customCheck({ rule: 'web_address' }, isFileAddress, text => {
    return fileAddress.test(text) && URL.canParse(text)
  }),
  // refuses nothing that the check above accepts; the API documentation shows this pattern
  patternCheck(fileAddress, isFileAddress)
)

/** `replace`: the file is the whole list. `append`: its rows are added to the list. */
export const RegisterImportMode = z.enum(['replace', 'append'])
export type RegisterImportMode = z.infer<typeof RegisterImportMode>

/**
 * `uploading`: bytes are missing. `reading`: the file is fetched, read and compared. `checked`: it can
 * run. `done` without a version: it changed nothing.
 */
export const RegisterImportState = z.enum([
  'uploading',
  'reading',
  'checked',
  'done',
  'undone',
  'failed'
])
export type RegisterImportState = z.infer<typeof RegisterImportState>

/**
 * Why an import failed; the register is unchanged. Never rename or reuse a code. `interrupted`: an
 * error that the server has logged. `changed_meanwhile`: the file changed while it was fetched.
 */
export const RegisterImportFailure = z.enum([
  'file_empty',
  'encoding_unknown',
  'quote_unclosed',
  'row_too_long',
  'too_many_columns',
  'column_missing',
  'too_many_rows',
  'too_many_register_rows',
  'too_many_refused_rows',
  'file_too_large',
  'address_refused',
  'address_unreachable',
  'address_answer',
  'changed_meanwhile',
  'interrupted'
])
export type RegisterImportFailure = z.infer<typeof RegisterImportFailure>

/**
 * Why a row is refused. Never rename or reuse a code. `duplicate`: an earlier row of the file has the
 * same key. `exists`: the list has this key with other values, and rows can only be added.
 */
export const RegisterRowReason = z.enum([
  'required',
  'fingerprint_format',
  'date_format',
  'too_long',
  'malformed',
  'duplicate',
  'exists'
])
export type RegisterRowReason = z.infer<typeof RegisterRowReason>

const RegisterCounts = z.object({
  new: z.int(),
  changed: z.int(),
  unchanged: z.int(),
  removed: z.int(),
  refused: z.int()
})

export const RegisterImport = z.object({
  id: z.uuid(),
  data_source: z.uuid(),
  mode: RegisterImportMode,
  // `null` where nobody named the file: a program sent it, or it was fetched
  file_name: z.nullable(z.string()),
  // of the file; `null` while it is fetched from an address
  bytes: z.nullable(z.int()),
  created: z.iso.datetime(),
  // `null` for deleted people, keys and operators of another company
  created_by: z.nullable(z.string()),
  state: RegisterImportState,
  // that are read
  rows: z.int(),
  // the `share` of a step that is done, from 0 to 1; 0 if a server does not say how long a file is
  progress: z.nullable(
    z.object({ step: z.enum(['fetching', 'reading', 'comparing']), share: z.number() })
  ),
  counts: z.nullable(RegisterCounts),
  // what the dry run warns of: references that count upwards, and no check column beside them
  warnings: z.array(z.enum(['counting_references', 'no_check_column'])),
  failure: z.nullable(z.object({ code: RegisterImportFailure, row: z.optional(z.int()) })),
  // that the run has made; `null` also if it changed nothing
  version: z.nullable(z.int()),
  // its undo is possible
  undoable: z.boolean()
})
export type RegisterImport = z.infer<typeof RegisterImport>

export const RefusedRow = z.object({
  // the first after the header is 1
  row: z.int(),
  reasons: z.array(z.object({ code: RegisterRowReason, header: z.optional(z.string()) })),
  cells: z.array(z.string())
})
export type RefusedRow = z.infer<typeof RefusedRow>

const ImportPath = { id: Id, importId: Id }

/** Lists the imports of a register that are kept, newest first. */
export const listRegisterImports = listEndpoint({
  path: '/data_source/{id}/imports',
  access: 'admin',
  scopes: ['registers'],
  item: RegisterImport,
  input: { id: Id }
})

/**
 * Creates an import. The file of `bytes` bytes then goes to the address `upload` (tus). With `url`
 * instead of `bytes`, the service fetches the file from that address, and `upload` is `null`. Without
 * `dialect` or `columns`, those of the last import that ran are used.
 */
export const createRegisterImport = endpoint({
  method: 'POST',
  path: '/data_source/{id}/import',
  access: 'admin',
  scopes: ['registers'],
  status: 201,
  idempotency: 'honoured',
  input: z.strictObject({
    id: Id,
    mode: RegisterImportMode,
    file_name: z.optional(textLineSchema(255)),
    bytes: z.optional(z.int().check(z.gte(1), z.lte(registerLimits.bytes))),
    url: z.optional(FileAddress),
    dialect: z.optional(CsvDialectInput),
    columns: z.optional(RegisterColumns)
  }),
  output: z.object({ import: RegisterImport, upload: z.nullable(z.string()) }),
  errors: [
    'import_state',
    'import_too_large',
    'too_many_imports',
    'idempotency_in_flight',
    'idempotency_key_reused'
  ]
})

/**
 * Imports the body, with the dialect and columns of the last import: upload, check and, with `run`,
 * the run in one call. Refused rows stop it before the run, unless `skip_refused` is `true`.
 */
export const putRegisterImport = nonJsonEndpoint({
  method: 'PUT',
  path: '/data_source/{id}/import',
  access: 'admin',
  scopes: ['registers'],
  input: z.strictObject({
    id: Id,
    mode: RegisterImportMode,
    run: z.optional(z.enum(['true', 'false'])),
    skip_refused: z.optional(z.enum(['true', 'false']))
  }),
  message: RegisterImport,
  errors: [
    'length_required',
    'file_empty',
    'import_state',
    'import_too_large',
    'too_many_imports',
    'idempotency_key_missing',
    'idempotency_in_flight',
    'idempotency_key_reused'
  ]
})

/** Shows an import: its state, how far it is, and its counts. */
export const getRegisterImport = endpoint({
  method: 'GET',
  path: '/data_source/{id}/import/{importId}',
  access: 'admin',
  scopes: ['registers'],
  input: z.strictObject(ImportPath),
  output: RegisterImport
})

/**
 * Shows the first 1,000 refused rows of an import. `after` and `next` are numbers of rows. A failed
 * import has none, and of those that have run, older ones lose theirs where new ones need the room.
 */
export const listRefusedRows = endpoint({
  method: 'GET',
  path: '/data_source/{id}/import/{importId}/rows',
  access: 'admin',
  scopes: ['registers'],
  input: z.strictObject({
    ...ImportPath,
    after: z.optional(z.coerce.number().check(z.int(), z.gte(0), z.lte(registerLimits.rows))),
    limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(1_000)))
  }),
  output: z.object({ rows: z.array(RefusedRow), next: z.nullable(z.number()) })
})

/** Downloads all refused rows with their reasons, as CSV. */
export const exportRefusedRows = nonJsonEndpoint({
  method: 'GET',
  path: '/data_source/{id}/import/{importId}/refused',
  access: 'admin',
  scopes: ['registers'],
  input: z.strictObject(ImportPath),
  message: z.void()
})

/** Runs an import that is checked. With `skip_refused`, refused rows are left out. */
export const runRegisterImport = endpoint({
  method: 'POST',
  path: '/data_source/{id}/import/{importId}/run',
  access: 'admin',
  scopes: ['registers'],
  status: 202,
  input: z.strictObject({ ...ImportPath, skip_refused: z.boolean() }),
  output: RegisterImport,
  errors: ['import_state', 'import_refused_rows']
})

/** Makes a new version with the list from before the import. */
export const undoRegisterImport = endpoint({
  method: 'POST',
  path: '/data_source/{id}/import/{importId}/undo',
  access: 'admin',
  scopes: ['registers'],
  status: 202,
  input: z.strictObject(ImportPath),
  output: RegisterImport,
  errors: ['import_state']
})

/** Deletes an import that has not run, and erases what it has read. */
export const deleteRegisterImport = endpoint({
  method: 'DELETE',
  path: '/data_source/{id}/import/{importId}',
  access: 'admin',
  scopes: ['registers'],
  input: z.strictObject(ImportPath),
  output: z.void(),
  errors: ['import_state']
})

export const registerImportCalls = {
  listRegisterImports,
  createRegisterImport,
  getRegisterImport,
  listRefusedRows,
  runRegisterImport,
  undoRegisterImport,
  deleteRegisterImport
}

export const nonJsonRegisterEndpoints = { putRegisterImport, exportRefusedRows }
