import * as z from 'zod/mini'
import { endpoint, nonJsonEndpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText } from './kit/lists.ts'
import { customCheck, maxCodeUnitsCheck } from './kit/text-checks.ts'

/** How far an entry is: `done` means that it is on record. */
export const RequestState = z.enum([
  'uploading',
  'queued',
  'processing',
  'done',
  'cancelled',
  'lapsed',
  'rejected',
  'failed'
])
export type RequestState = z.infer<typeof RequestState>

/**
 * The answer for a document: `authentic` if exactly this file is on record, `known_to_register` if it
 * is not but a register of the company lists it, `not_found` if neither, `indeterminate` if a register
 * that could list it was not reached. `not_found` does not mean that a document is false.
 */
export const Verdict = z.enum(['authentic', 'known_to_register', 'not_found', 'indeterminate'])
export type Verdict = z.infer<typeof Verdict>

/**
 * Which fingerprint was found: `original`, that of the file as it was chosen, or `stored_copy`,
 * that of the reduced copy of a picture.
 */
export const MatchedFingerprintKind = z.enum(['original', 'stored_copy'])
export type MatchedFingerprintKind = z.infer<typeof MatchedFingerprintKind>

/**
 * How strong the evidence for a record is: `recorded`, its company's word; `sealed`, its receipt proves
 * it. `sealing_paused`: it is recorded, and its company's log signs nothing until an operator has
 * looked at it.
 */
export const Rung = z.enum(['recorded', 'sealing_paused', 'sealed'])
export type Rung = z.infer<typeof Rung>

/**
 * `file` if the file is kept, `fingerprint` if only its fingerprint is. Where the field is absent,
 * the file is kept.
 */
export const StoredContentKind = z.enum(['file', 'fingerprint'])
export type StoredContentKind = z.infer<typeof StoredContentKind>

const RequestKind = z.enum(['deposit', 'verify'])

export const ProcessedRequest = z.object({
  id: z.uuid(),
  // in lists of the whole company
  user_id: z.optional(z.uuid()),
  kind: RequestKind,
  created: z.iso.datetime(),
  // of the last change, in one sequence per company: the higher of two copies is newer
  seq: z.number(),
  state: RequestState,
  // of an entry that ended without success
  code: z.optional(z.string()),
  // of a verification, that of its first document that the person has deposited
  name: z.optional(z.string()),
  // that of the reduced copy of a picture
  size: z.optional(z.number()),
  // the original picture, if the deposit stores a reduced copy
  reduced_from: z.optional(z.object({ bytes: z.number(), w: z.number(), h: z.number() })),
  media_type: z.optional(z.string()),
  category_id: z.optional(z.uuid()),
  store: z.optional(StoredContentKind),
  // absent if it is stored for an unlimited time
  keep_until: z.optional(z.iso.datetime()),
  // at the end of the retention; the record stays
  erased: z.optional(z.iso.datetime()),
  // absent for entries from before this field
  recorded: z.optional(z.iso.datetime()),
  // absent for a verification
  deposit_id: z.optional(z.string()),
  /**
   * The path of the receipt of a deposit, with which anybody can check the document without this
   * service. It is there once the entry is `done`.
   */
  receipt: z.optional(z.string()),
  // of the record made, or of a sealed one that was found
  leaf_hash: z.optional(z.string()),
  // its place in the public log
  leaf_index: z.optional(z.number()),
  rung: z.optional(Rung),
  // when the log was signed with it; absent for an old record whose checkpoint is no longer kept
  sealed: z.optional(z.iso.datetime()),
  // of a single document; `items` counts the results of several
  verdict: z.optional(Verdict),
  match: z.optional(MatchedFingerprintKind),
  items: z.optional(
    z.object({
      asked: z.number(),
      authentic: z.number(),
      known_to_register: z.optional(z.number()),
      not_found: z.number(),
      indeterminate: z.optional(z.number())
    })
  ),
  // of a verification, how many of its documents each register lists
  registers: z.optional(z.array(z.object({ id: z.uuid(), name: z.string(), found: z.number() })))
})
export type ProcessedRequest = z.infer<typeof ProcessedRequest>

const requestFilter = {
  kind: z.optional(RequestKind),
  state: z.optional(RequestState),
  category: z.optional(Id),
  q: SearchText,
  from: z.optional(z.iso.datetime({ offset: true })),
  to: z.optional(z.iso.datetime({ offset: true }))
}

/**
 * How far the public log of a company is signed, in the events `sealed` of the stream: deposits whose
 * `leaf_index` is below `size` are sealed.
 */
export const LogProgress = z.object({
  size: z.int(),
  // when it was last signed
  at: z.optional(z.iso.datetime()),
  // the log signs nothing until an operator has looked at it
  paused: z.optional(z.literal(true))
})
export type LogProgress = z.infer<typeof LogProgress>

/**
 * Lists what the person has deposited and verified. `q` holds words from a document's name, `from`
 * is the first moment and `to` the one after the last. With `scope=company`, an administrator gets
 * everyone's, each with its `user_id`.
 */
export const listRequests = listEndpoint({
  path: '/process',
  access: 'user',
  scopes: ['history'],
  item: ProcessedRequest,
  input: { scope: z.optional(z.enum(['own', 'company'])), ...requestFilter }
})

const TimeZone = z
  .string()
  .check(
    maxCodeUnitsCheck(64),
    customCheck({ rule: 'format' }, 'the name of a time zone, such as Europe/Paris', isTimeZone)
  )

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * Returns everything that `listRequests` pages through, as one CSV file. Cells that a spreadsheet
 * would compute begin with an apostrophe.
 */
export const exportRequests = nonJsonEndpoint({
  method: 'GET',
  path: '/process/export',
  access: 'user',
  scopes: ['history'],
  input: z.strictObject({
    locale: z.optional(z.enum(['en', 'fr'])),
    // `machine`: fields as in the API; `spreadsheet`: words, dates and separator of `locale`
    format: z.optional(z.enum(['machine', 'spreadsheet'])),
    // UTC when absent
    time_zone: z.optional(TimeZone),
    ...requestFilter
  }),
  message: z.void()
})

/** Returns one entry of that list. */
export const getRequest = endpoint({
  method: 'GET',
  path: '/process/{id}',
  access: 'user',
  scopes: ['deposit', 'history'],
  input: z.strictObject({ id: Id }),
  output: ProcessedRequest
})

/**
 * Streams the same entries as they change. An event `sealed` says how far the company's log is signed,
 * at the beginning and whenever it is signed.
 */
export const streamRequests = nonJsonEndpoint({
  method: 'GET',
  path: '/process/sse',
  access: 'user',
  scopes: ['history'],
  input: z.strictObject({}),
  message: ProcessedRequest,
  errors: ['stream_limit_reached']
})

export const requestCalls = { listRequests, getRequest }

export const nonJsonRequestEndpoints = { streamRequests, exportRequests }
