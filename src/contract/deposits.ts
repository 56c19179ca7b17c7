import * as z from 'zod/mini'
import { endpoint, nonJsonEndpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { maxFilesPerDepositBatch } from './kit/limits.ts'
import { customCheck, maxCodeUnitsCheck, patternCheck } from './kit/text-checks.ts'
import { ProcessedRequest } from './requests.ts'

/** Maximum length of a file name in UTF-16 code units. File systems allow as many. */
const maxNameCodeUnits = 255

/** What an error tells a caller who sends a file in another way than `PUT /deposit` takes it. */
export const rawFileAdvice =
  'To send a file itself, use PUT /deposit?name=… with its bytes as the body (curl -T)'

/** A SHA-256 as 64 lower-case hex digits. */
export const Sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/))

/** A SHA-256 in an input: 64 hex digits in either case. Parsing turns them into lower case. */
export const AnyCaseSha256 = z
  .string()
  .check(patternCheck(/^[0-9a-fA-F]{64}$/, '64 hexadecimal digits'), z.toLowerCase())

/** Id of a deposit's record: 16 random bytes as 22 base64url characters. */
export const RecordId = z
  .string()
  .check(patternCheck(/^[A-Za-z0-9_-]{21}[AQgw]$/, 'a record id of 22 characters'))

/** A file name of at most 255 UTF-16 code units, in NFC and without control characters. */
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

/** A media type in lower case without parameters: `image/jpeg`. */
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

/** How the browser reduced a picture before the upload. */
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
 * Creates a deposit and reserves storage for it. Returns 201 with a history entry (`request`) and
 * the URL to which the file is uploaded (`upload`). `size` is the number of bytes that will be
 * uploaded. A category that stores only fingerprints needs no upload: the deposit is then recorded
 * immediately. Returns 200 and reserves nothing if the caller has deposited the same file before
 * (`duplicate`), or has begun to upload the file in the same category (`continued`).
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
    /**
     * Media type of the file. If it is a general one, such as `application/octet-stream`, the
     * extension of the name decides.
     */
    media_type: MediaType,
    /** SHA-256 of the original file. */
    original: AnyCaseSha256,
    /**
     * SHA-256 of the bytes that will be uploaded. It equals `original` unless the browser reduced
     * the picture (`transform`).
     */
    stored: AnyCaseSha256,
    transform: z.optional(PictureTransform),
    /**
     * Id of the deposit's category. When absent, the server takes the only category that the caller
     * may use or, if there are several, the company's default category.
     */
    category: z.optional(Id),
    /** Whether to make a new deposit even if the caller has deposited the same file before. */
    again: z.optional(z.boolean())
  }),
  output: z.union([
    z.object({ duplicate: ProcessedRequest }),
    z.object({
      request: ProcessedRequest,
      upload: z.optional(z.string()),
      /**
       * `true` if the caller has already begun to upload the same file. `upload` is then the URL of
       * that unfinished upload.
       */
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

/** Why one file of a batch deposit was refused, with the fields of an error response. */
const ItemProblem = z.looseObject({
  status: z.number(),
  code: z.string(),
  detail: z.string(),
  /** Seconds after which the caller may try the refused file again. */
  retry_after: z.optional(z.number())
})

/**
 * One file of a batch deposit: the fields of `POST /deposit`, and a `key` that works as the file's
 * own `Idempotency-Key`.
 */
export const BatchItem = z.strictObject({
  ...createDeposit.input.shape,
  key: z
    .string()
    .check(patternCheck(/^[\x21-\x7e]{1,255}$/, '1 to 255 printable characters of ASCII'))
})

/**
 * Deposits up to 50 small files in one call. The body is `multipart/form-data`: a part `items` with
 * a JSON list, then one part with the bytes of each file, in the order of the list. Each file has
 * its own idempotency key and its own result: the output of `POST /deposit`, or a problem. A
 * refused file does not affect the other files. The response is sent after every accepted file is
 * on disk and recorded. If the body is incomplete or malformed, nothing is stored.
 */
export const createDepositBatch = nonJsonEndpoint({
  method: 'POST',
  path: '/deposit/batch',
  access: 'user',
  scopes: ['deposit'],
  input: z.strictObject({}),
  form: z.array(BatchItem).check(z.minLength(1), z.maxLength(maxFilesPerDepositBatch)),
  message: z.object({
    /** One result for each file, in the order of `items`. */
    results: z.array(
      z.union([
        z.object({ problem: ItemProblem }),
        z.object({ duplicate: ProcessedRequest, replayed: z.optional(z.literal(true)) }),
        z.object({
          request: ProcessedRequest,
          /**
           * URL of an unfinished upload, if the caller had begun to upload the same file before the
           * batch. The caller must send the file's bytes to this URL.
           */
          upload: z.optional(z.string()),
          continued: z.optional(z.literal(true)),
          /**
           * `true` if an earlier call has used the file's idempotency key. The result is then the
           * result of that call.
           */
          replayed: z.optional(z.literal(true))
        })
      ])
    )
  }),
  errors: ['too_many_items']
})

/**
 * Deposits a file in one call, such as `curl -T a.pdf "…/deposit?name=a.pdf"`. The body is the
 * file, and the server computes its fingerprint. Returns the history entry and the fingerprint. The
 * status is 201 if the deposit has been recorded, or 202 if it is still not recorded after four
 * minutes. If the connection breaks, the received bytes are discarded. Accepts an
 * `Idempotency-Key`.
 */
export const putDeposit = nonJsonEndpoint({
  method: 'PUT',
  path: '/deposit',
  access: 'user',
  scopes: ['deposit'],
  input: z.strictObject({
    name: FileName,
    /**
     * Id of the deposit's category. When absent, the server takes the only category that the caller
     * may use or, if there are several, the company's default category.
     */
    category: z.optional(Id),
    /**
     * Media type of the file. When absent, the header `Content-Type`. Where neither tells a usable
     * type, the extension of the name decides.
     */
    media_type: z.optional(MediaType)
  }),
  message: z.extend(ProcessedRequest, {
    /** SHA-256 of the received bytes. */
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
 * Returns the unfinished upload of one of the caller's deposits, so that another device with the
 * same file can resume or cancel the upload.
 */
export const getUnfinishedUpload = endpoint({
  method: 'GET',
  path: '/process/{id}/upload',
  access: 'user',
  scopes: ['deposit'],
  input: z.strictObject({ id: Id }),
  output: z.object({
    /** Address to which the remaining bytes are sent. */
    upload: z.string(),
    name: z.string(),
    category: z.uuid(),
    /** Size of the original file in bytes. The upload may be a smaller copy: see `bytes`. */
    size: z.number(),
    media_type: z.string(),
    original: Sha256,
    /**
     * Size of the whole upload in bytes, including those that the server has already received. The
     * field `stored` is the SHA-256 of the whole upload.
     */
    bytes: z.number(),
    stored: Sha256
  })
})

/** A recorded deposit as its depositor sees it. */
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
  /**
   * SHA-256 of the stored bytes. Absent for a deposit that stores only the fingerprint of the file.
   */
  stored: z.optional(Sha256),
  transform: z.optional(PictureTransform),
  visibility: z.string(),
  leaf_hash: Sha256
})
export type Deposit = z.infer<typeof Deposit>

/** Returns a recorded deposit of the caller. */
export const getDeposit = endpoint({
  method: 'GET',
  path: '/deposit/{id}',
  access: 'user',
  scopes: ['history'],
  input: z.strictObject({ id: RecordId }),
  output: Deposit
})

/**
 * Returns a URL from which the caller's browser can download the file of a deposit. The URL works
 * for one minute, and only while the session lasts. The download needs no session token, because
 * the URL itself gives access. Pages use this URL because a plain link cannot send the token, and a
 * script cannot hold a file of 5 GB in memory.
 */
export const createContentLink = endpoint({
  method: 'POST',
  path: '/deposit/{id}/content',
  access: 'user',
  scopes: ['history'],
  input: z.strictObject({ id: RecordId }),
  output: z.object({ url: z.string(), expires: z.iso.datetime() })
})

/**
 * Sends the exact stored bytes of a deposit as an attachment. With a `Range` header, sends only the
 * requested part.
 */
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

const UploadInput = z.object({ id: z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/)) })

/**
 * Returns how many bytes of an upload the server has received. The number is in the header
 * `Upload-Offset` (tus 1.0).
 */
export const headUpload = nonJsonEndpoint({
  method: 'HEAD',
  path: '/uploads/{id}',
  access: 'user',
  scopes: ['deposit'],
  input: UploadInput,
  message: z.void(),
  errors: ['lapsed', 'cancelled']
})

/**
 * Appends bytes to an upload (tus 1.0). Fails with `upload_offset` if the header `Upload-Offset` is
 * not the number of bytes that the server has received so far. The status 204 for the last bytes
 * promises that the deposit will be recorded. Only one call at a time writes to an upload. Another
 * call waits, or fails with `upload_busy` and can be repeated. The writing call also fails with
 * `upload_busy` if its client stops sending bytes while another call waits.
 */
export const patchUpload = nonJsonEndpoint({
  method: 'PATCH',
  path: '/uploads/{id}',
  access: 'user',
  scopes: ['deposit'],
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

/**
 * Cancels an unfinished upload with its deposit, and releases the reserved storage (tus 1.0
 * termination).
 */
export const deleteUpload = nonJsonEndpoint({
  method: 'DELETE',
  path: '/uploads/{id}',
  access: 'user',
  scopes: ['deposit'],
  input: UploadInput,
  message: z.void(),
  errors: ['upload_state', 'lapsed', 'cancelled']
})

export const depositCalls = { createDeposit, createContentLink, getDeposit, getUnfinishedUpload }

export const nonJsonDepositEndpoints = {
  createDepositBatch,
  putDeposit,
  getDepositContent,
  headUpload,
  patchUpload,
  deleteUpload
}
