import * as z from 'zod/mini'
import { endpoint, nonJsonEndpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { maxFilesPerDepositBatch } from './kit/limits.ts'
import { customCheck, maxCodeUnitsCheck, patternCheck } from './kit/text-checks.ts'
import { ProcessedRequest, Rung } from './requests.ts'

// as many as file systems allow
const maxNameCodeUnits = 255

/** For callers who send a file in another way than `PUT /deposit` takes it. */
export const rawFileAdvice =
  'To send a file itself, use PUT /deposit?name=… with its bytes as the body (curl -T)'

export const Sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/))

// parsing turns it into lower case
export const AnyCaseSha256 = z
  .string()
  .check(patternCheck(/^[0-9a-fA-F]{64}$/, '64 hexadecimal digits'), z.toLowerCase())

// 16 random bytes
export const RecordId = z
  .string()
  .check(patternCheck(/^[A-Za-z0-9_-]{21}[AQgw]$/, 'a record id of 22 characters'))

export const FileName = z.string().check(
  z.minLength(1, { abort: true }),
  maxCodeUnitsCheck(maxNameCodeUnits),
  customCheck(
    { rule: 'nfc' },
    'text in Unicode form NFC',
    name => name.isWellFormed() && name === name.normalize('NFC')
  ),
  patternCheck(/^\P{Cc}*$/u, 'no control characters')
)

/** Without parameters: `image/jpeg`. */
export const MediaType = z
  .string()
  .check(
    maxCodeUnitsCheck(127),
    patternCheck(
      /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/,
      'a media type in lower case without parameters, such as image/jpeg'
    )
  )

const PictureSize = z.strictObject({
  bytes: z.number().check(z.int(), z.gte(1)),
  w: z.number().check(z.int(), z.gte(1)),
  h: z.number().check(z.int(), z.gte(1)),
  type: MediaType
})

export const PictureTransform = z.strictObject({
  kind: z.literal('image-recompress'),
  quality: z.literal(70),
  tool: z
    .string()
    .check(
      z.minLength(1, { abort: true }),
      maxCodeUnitsCheck(80),
      patternCheck(/^\P{C}*$/u, 'no control characters')
    ),
  from: PictureSize,
  to: PictureSize
})
export type PictureTransform = z.infer<typeof PictureTransform>

/**
 * Reserves space for a file and creates its upload; the bytes follow by `PATCH`. 200: there is an
 * earlier deposit or upload of the file.
 */
export const createDeposit = endpoint({
  method: 'POST',
  path: '/deposit',
  access: 'user',
  scopes: ['deposit'],
  status: 201,
  idempotency: 'required',
  otherBody: rawFileAdvice,
  input: z.strictObject({
    name: FileName,
    size: z.number().check(z.int(), z.gte(0)),
    // if it is a general one, the extension of the name decides
    media_type: MediaType,
    original: AnyCaseSha256,
    // of the bytes to upload: equals `original` unless there is a `transform`
    stored: AnyCaseSha256,
    transform: z.optional(PictureTransform),
    // when absent, the only one that the caller may use, else the default one
    category: z.optional(Id),
    // despite an earlier deposit of the same file
    again: z.optional(z.boolean())
  }),
  output: z.union([
    // reserves nothing
    z.object({ duplicate: ProcessedRequest }),
    z.object({
      request: ProcessedRequest,
      upload: z.optional(z.string()),
      // `upload` is that of the earlier call
      continued: z.optional(z.literal(true))
    })
  ]),
  errors: [
    'category_unknown',
    'category_required',
    'category_unusable',
    'file_empty',
    'too_large',
    'type_not_allowed',
    'transform_not_allowed',
    'fingerprint_invalid',
    'request_limit_reached',
    'storage_limit_reached',
    'upload_limit_reached',
    'idempotency_key_missing',
    'idempotency_in_flight',
    'idempotency_key_reused'
  ]
})

const ItemProblem = z.looseObject({
  status: z.number(),
  code: z.string(),
  detail: z.string(),
  // seconds
  retry_after: z.optional(z.number())
})

// `key` is the file's own `Idempotency-Key`
export const BatchItem = z.strictObject({
  ...createDeposit.input.shape,
  key: z
    .string()
    .check(patternCheck(/^[\x21-\x7e]{1,255}$/, '1 to 255 printable characters of ASCII'))
})

/**
 * Deposits up to 50 small files in one call, 8 MiB in all. The body is a form: `items`, a JSON list
 * with what `POST /deposit` takes and a `key` for each file, then the files themselves in parts
 * named `file`. Each file has its own result, in the order of the list.
 */
export const createDepositBatch = nonJsonEndpoint({
  method: 'POST',
  path: '/deposit/batch',
  access: 'user',
  scopes: ['deposit'],
  input: z.strictObject({}),
  form: z.array(BatchItem).check(z.minLength(1), z.maxLength(maxFilesPerDepositBatch)),
  message: z.object({
    results: z.array(
      z.union([
        z.object({ problem: ItemProblem }),
        z.object({ duplicate: ProcessedRequest, replayed: z.optional(z.literal(true)) }),
        z.object({
          request: ProcessedRequest,
          // of an unfinished upload from before the batch, which needs the bytes
          upload: z.optional(z.string()),
          continued: z.optional(z.literal(true)),
          // the result of an earlier call with the same key
          replayed: z.optional(z.literal(true))
        })
      ])
    )
  }),
  errors: ['too_many_items']
})

/**
 * Deposits a file in one call; the body is the file, and the fields are in the query. 201: the file
 * is on record, and the header `Link` has the path of its receipt.
 */
export const putDeposit = nonJsonEndpoint({
  method: 'PUT',
  path: '/deposit',
  access: 'user',
  scopes: ['deposit'],
  input: z.strictObject({
    name: FileName,
    category: z.optional(Id),
    // when absent, the header `Content-Type`; the extension decides where neither is usable
    media_type: z.optional(MediaType)
  }),
  message: z.extend(ProcessedRequest, {
    sha256: Sha256
  }),
  errors: [
    'length_required',
    'category_unknown',
    'category_required',
    'category_unusable',
    'file_empty',
    'too_large',
    'type_not_allowed',
    'request_limit_reached',
    'storage_limit_reached',
    'upload_limit_reached',
    'idempotency_in_flight',
    'idempotency_key_reused'
  ]
})

/** Returns what still has to be sent of a deposit whose upload is open. */
export const getUnfinishedUpload = endpoint({
  method: 'GET',
  path: '/process/{id}/upload',
  access: 'user',
  scopes: ['deposit'],
  input: z.strictObject({ id: Id }),
  output: z.object({
    upload: z.string(),
    name: z.string(),
    category: z.uuid(),
    // of the original file
    size: z.number(),
    media_type: z.string(),
    original: Sha256,
    // of the whole upload, which may be a smaller copy; `stored` is its SHA-256
    bytes: z.number(),
    stored: Sha256
  })
})

export const Deposit = z.object({
  id: RecordId,
  request_id: z.uuid(),
  name: z.string(),
  size: z.number(),
  media_type: z.string(),
  category_id: z.uuid(),
  created: z.iso.datetime(),
  recorded: z.iso.datetime(),
  original: Sha256,
  // absent if only the fingerprint is stored
  stored: z.optional(Sha256),
  transform: z.optional(PictureTransform),
  visibility: z.string(),
  leaf_hash: Sha256,
  // its place in the public log
  leaf_index: z.number(),
  rung: Rung,
  // when the log was signed with it; absent for an old record whose checkpoint is no longer kept
  sealed: z.optional(z.iso.datetime())
})
export type Deposit = z.infer<typeof Deposit>

/** Returns one deposit of the person. */
export const getDeposit = endpoint({
  method: 'GET',
  path: '/deposit/{id}',
  access: 'user',
  scopes: ['history'],
  input: z.strictObject({ id: RecordId }),
  output: Deposit
})

/** Creates an address from which a browser can download the file for one minute. */
export const createContentLink = endpoint({
  method: 'POST',
  path: '/deposit/{id}/content',
  access: 'user',
  scopes: ['history'],
  input: z.strictObject({ id: RecordId }),
  output: z.object({ url: z.string(), expires: z.iso.datetime() })
})

/** Returns the exact bytes that were kept. */
export const getDepositContent = nonJsonEndpoint({
  method: 'GET',
  path: '/deposit/{id}/content',
  access: 'user',
  scopes: ['history'],
  head: true,
  linked: true,
  input: z.strictObject({
    id: RecordId,
    link: z.optional(
      z.string().check(patternCheck(/^[A-Za-z0-9_-]{91}$/, 'a link of 91 characters'))
    )
  }),
  message: z.void(),
  errors: ['link_invalid', 'range_unsatisfiable']
})

export const ReceiptFormat = z.enum(['json', 'tlog-proof'])
export type ReceiptFormat = z.infer<typeof ReceiptFormat>

const LeafWithProof = z.object({ leaf: z.string(), proof: z.string() })

/** `docs/receipt-format.md` describes its texts. */
export const Receipt = z.object({
  format: z.literal('vidimus/receipt@v1'),
  // nothing proves the name
  log: z.object({ name: z.string(), origin: z.string(), vkey: z.string() }),
  leaf: z.string(),
  open: z.record(z.string(), z.object({ salt: z.string(), value: z.string() })),
  proof: z.string(),
  // oldest first
  keys: z.array(LeafWithProof),
  // empty today
  timestamps: z.array(z.looseObject({ kind: z.string() }))
})

/**
 * Returns the receipt of a deposit, a file with which anybody can check the document without this
 * service. `tlog-proof` is its proof alone, in the format of C2SP. Waits up to two seconds for the
 * record to be sealed.
 */
export const getReceipt = nonJsonEndpoint({
  method: 'GET',
  path: '/deposit/{id}/receipt',
  access: 'user',
  scopes: ['history'],
  head: true,
  input: z.strictObject({
    id: RecordId,
    // `json` when absent
    format: z.optional(ReceiptFormat)
  }),
  message: Receipt,
  // pending until the record is sealed; gone if what it is made from was erased or lost
  errors: ['receipt_pending', 'receipt_gone']
})

const UploadInput = z.object({ id: z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/)) })

/** Tells how many bytes of an upload have arrived (tus 1.0). */
export const headUpload = nonJsonEndpoint({
  method: 'HEAD',
  path: '/uploads/{id}',
  access: 'user',
  scopes: ['deposit', 'registers'],
  input: UploadInput,
  message: z.void(),
  errors: ['lapsed', 'cancelled']
})

/**
 * Sends the bytes from `Upload-Offset` on. After the last 204, the deposit is recorded, or the file of
 * the register is read.
 */
export const patchUpload = nonJsonEndpoint({
  method: 'PATCH',
  path: '/uploads/{id}',
  access: 'user',
  scopes: ['deposit', 'registers'],
  input: UploadInput,
  message: z.void(),
  errors: [
    'upload_offset',
    // one call at a time writes; others wait, or get this and can be repeated
    'upload_busy',
    'upload_state',
    'too_large',
    'storage_limit_reached',
    'lapsed',
    'cancelled'
  ]
})

/** Cancels an upload and frees its space. */
export const deleteUpload = nonJsonEndpoint({
  method: 'DELETE',
  path: '/uploads/{id}',
  access: 'user',
  scopes: ['deposit', 'registers'],
  input: UploadInput,
  message: z.void(),
  errors: ['upload_state', 'lapsed', 'cancelled']
})

export const depositCalls = { createDeposit, createContentLink, getDeposit, getUnfinishedUpload }

export const nonJsonDepositEndpoints = {
  createDepositBatch,
  putDeposit,
  getDepositContent,
  getReceipt,
  headUpload,
  patchUpload,
  deleteUpload
}
