import * as z from 'zod/mini'
import { endpoint, stream } from './endpoint.ts'
import { maxBatchItems } from './limits.ts'
import { ProcessedRequest } from './requests.ts'
import { maxCodeUnits, pattern, rule } from './text-checks.ts'

const maxNameBytes = 255

/** 64 lower-case hex digits. */
export const Sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/))

/** 64 hex digits in either case. Parsing turns them into lower case. */
export const GivenSha256 = z
  .string()
  .check(pattern(/^[0-9a-fA-F]{64}$/, '64 hexadecimal digits'), z.toLowerCase())

/** Id of a record: 16 random bytes as 22 base64url characters. */
const RecordId = z
  .string()
  .check(pattern(/^[A-Za-z0-9_-]{21}[AQgw]$/, 'a record id of 22 characters'))

const utf8 = new TextEncoder()

/** A name in NFC without control characters, at most 255 bytes. */
export const FileName = z.string().check(
  z.minLength(1, { abort: true }),
  rule(
    { rule: 'max_bytes', limit: maxNameBytes },
    `at most ${maxNameBytes} bytes of UTF-8`,
    // checked first, because a code unit takes at least one byte
    name => name.length <= maxNameBytes && utf8.encode(name).length <= maxNameBytes
  ),
  rule(
    { rule: 'nfc' },
    'text in Unicode form NFC',
    name => name.isWellFormed() && name === name.normalize('NFC')
  ),
  pattern(/^\P{Cc}*$/u, 'no control characters')
)

/** A media type in lower case without parameters: `image/jpeg`. */
export const MediaType = z
  .string()
  .check(
    maxCodeUnits(127),
    pattern(
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

/** How the browser reduced a picture before the upload. */
export const Transform = z.strictObject({
  kind: z.literal('image-recompress'),
  quality: z.literal(70),
  tool: z
    .string()
    .check(
      z.minLength(1, { abort: true }),
      maxCodeUnits(80),
      pattern(/^\P{C}*$/u, 'no control characters')
    ),
  from: PictureSize,
  to: PictureSize
})
export type Transform = z.infer<typeof Transform>

/**
 * Reserves quota and creates a request with an upload. `size` is the number of bytes that will be
 * sent. In a category that stores only fingerprints the deposit is made at once, without an upload.
 * For a file that the caller has deposited before, answers 200 with that deposit and reserves
 * nothing. For a file whose upload in this category is unfinished, answers 200 with that upload.
 */
export const createDeposit = endpoint({
  method: 'POST',
  path: '/deposit',
  access: 'user',
  status: 201,
  idempotency: 'required',
  input: z.strictObject({
    name: FileName,
    size: z.number().check(z.int(), z.gte(0)),
    media_type: MediaType,
    /** Fingerprint of the original file. */
    original: GivenSha256,
    /** Fingerprint of the bytes that will be sent; equal to `original` without a transform. */
    stored: GivenSha256,
    transform: z.optional(Transform),
    /** When absent: the caller's only category, else the company's default. */
    category: z.optional(z.uuid()),
    /** Makes a new deposit even if the caller has deposited this file before. */
    again: z.optional(z.boolean())
  }),
  output: z.union([
    z.object({ duplicate: ProcessedRequest }),
    z.object({
      request: ProcessedRequest,
      upload: z.optional(z.string()),
      /** `true` where the answer is the caller's unfinished upload of the same file. */
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

/** The refusal of one item of a batch, as the body of an error answer has it. */
const ItemProblem = z.looseObject({
  status: z.number(),
  code: z.string(),
  detail: z.string(),
  /** Seconds after which to try again. */
  retry_after: z.optional(z.number())
})

/** One file of a batch: the body of `POST /deposit` and its idempotency key. */
export const BatchItem = z.strictObject({
  ...createDeposit.input.shape,
  key: z.string().check(pattern(/^[\x21-\x7e]{1,255}$/, '1 to 255 printable characters of ASCII'))
})

/**
 * Deposits up to 50 small files in one call. The body is `multipart/form-data`: first the part `items`, a
 * list in JSON, then one part with the bytes of each item, in the order of the list. Each item has its own
 * key and its own result: what `POST /deposit` answers, or the problem that refuses it. One refusal
 * touches no other item. The answer is sent once every accepted file is on disk and recorded. Where the
 * body breaks off or has another form, nothing is stored.
 */
export const createDepositBatch = stream({
  method: 'POST',
  path: '/deposit/batch',
  access: 'user',
  input: z.strictObject({}),
  form: z.array(BatchItem).check(z.minLength(1), z.maxLength(maxBatchItems)),
  message: z.object({
    /** In the order of the items. */
    results: z.array(
      z.union([
        z.object({ problem: ItemProblem }),
        z.object({ duplicate: ProcessedRequest, replayed: z.optional(z.literal(true)) }),
        z.object({
          request: ProcessedRequest,
          /** Address of an upload of the same file that was open already. It takes the bytes. */
          upload: z.optional(z.string()),
          continued: z.optional(z.literal(true)),
          /** The key came before, and this is its answer. */
          replayed: z.optional(z.literal(true))
        })
      ])
    )
  }),
  errors: ['too_many_items']
})

/**
 * Deposits a file in one call, for `curl -T a.pdf "…/deposit?name=a.pdf"`. The body is the file,
 * and the server computes its fingerprint. Answers 201 with the request and the fingerprint once
 * the deposit is recorded, or 202 where that takes minutes. Discards the received bytes if the
 * connection breaks. Accepts an `Idempotency-Key`.
 */
export const putDeposit = stream({
  method: 'PUT',
  path: '/deposit',
  access: 'user',
  input: z.strictObject({
    name: FileName,
    /** When absent: the caller's only category, else the company's default. */
    category: z.optional(z.uuid()),
    /** `application/octet-stream` when absent. */
    media_type: z.optional(MediaType)
  }),
  message: z.extend(ProcessedRequest, {
    /** Fingerprint of the received bytes. */
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

/**
 * Returns the unfinished upload of one of the caller's deposits. Any device that has the file can
 * resume or cancel it.
 */
export const getOpenUpload = endpoint({
  method: 'GET',
  path: '/process/{id}/upload',
  access: 'user',
  input: z.strictObject({ id: z.uuid() }),
  output: z.object({
    /** Address of the upload. */
    upload: z.string(),
    name: z.string(),
    category: z.uuid(),
    /** Length and type of the original file. */
    size: z.number(),
    media_type: z.string(),
    original: Sha256,
    /** Length and fingerprint of the bytes that are sent. */
    bytes: z.number(),
    stored: Sha256
  })
})

/** A deposit as its depositor sees it. */
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
  /** Absent where only the fingerprint is stored. */
  stored: z.optional(Sha256),
  transform: z.optional(Transform),
  visibility: z.string(),
  leaf_hash: Sha256
})
export type Deposit = z.infer<typeof Deposit>

export const getDeposit = endpoint({
  method: 'GET',
  path: '/deposit/{id}',
  access: 'user',
  input: z.strictObject({ id: RecordId }),
  output: Deposit
})

/**
 * Returns an address from which the caller's browser can download the content. It is valid for a
 * minute, and only while the session lasts. It exists because an address must not contain a token
 * and a script cannot hold 5 GB in memory.
 */
export const createContentLink = endpoint({
  method: 'POST',
  path: '/deposit/{id}/content',
  access: 'user',
  input: z.strictObject({ id: RecordId }),
  output: z.object({ url: z.string(), expires: z.iso.datetime() })
})

/** Sends the exact stored bytes as an attachment, or the part that `Range` names. */
export const getDepositContent = stream({
  method: 'GET',
  path: '/deposit/{id}/content',
  access: 'user',
  head: true,
  linked: true,
  input: z.strictObject({
    id: RecordId,
    link: z.optional(z.string().check(pattern(/^[A-Za-z0-9_-]{91}$/, 'a link of 91 characters')))
  }),
  message: z.void(),
  errors: ['link_invalid', 'range_unsatisfiable']
})

const UploadInput = z.object({ id: z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/)) })

/** tus 1.0: returns how many bytes the server has (`Upload-Offset`). */
export const headUpload = stream({
  method: 'HEAD',
  path: '/uploads/{id}',
  access: 'user',
  input: UploadInput,
  message: z.void(),
  errors: ['lapsed', 'cancelled']
})

/**
 * tus 1.0: appends bytes at `Upload-Offset`. The 204 of the last call promises that the deposit
 * will be recorded. If two calls write to one upload, one of them answers `upload_busy`: the
 * earlier call if its client has stopped sending, else the later one.
 */
export const patchUpload = stream({
  method: 'PATCH',
  path: '/uploads/{id}',
  access: 'user',
  input: UploadInput,
  message: z.void(),
  errors: [
    'upload_offset',
    'upload_busy',
    'upload_state',
    'too_large',
    'storage_limit_reached',
    'lapsed',
    'cancelled'
  ]
})

/** tus 1.0 termination: cancels the deposit and releases its reservation. */
export const deleteUpload = stream({
  method: 'DELETE',
  path: '/uploads/{id}',
  access: 'user',
  input: UploadInput,
  message: z.void(),
  errors: ['upload_state', 'lapsed', 'cancelled']
})

export const depositCalls = { createDeposit, createContentLink, getDeposit, getOpenUpload }

export const depositStreams = {
  createDepositBatch,
  putDeposit,
  getDepositContent,
  headUpload,
  patchUpload,
  deleteUpload
}
