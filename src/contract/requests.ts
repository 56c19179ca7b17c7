import * as z from 'zod/mini'
import { endpoint, nonJsonEndpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText } from './kit/lists.ts'
import { customCheck, maxCodeUnitsCheck } from './kit/text-checks.ts'

/**
 * State of a history entry: unfinished (`uploading`, `queued`, `processing`), successful (`done`)
 * or ended without success (all others). `lapsed`: nobody continued the upload for a day.
 */
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

/** Result of a verification: whether a record of the document was found. */
export const Verdict = z.enum(['authentic', 'not_found'])
export type Verdict = z.infer<typeof Verdict>

/**
 * Which fingerprint of a deposit matches the verified file: the fingerprint of the original file,
 * or that of the stored copy. They differ only if the stored copy is a reduced picture.
 */
export const MatchedFingerprintKind = z.enum(['original', 'stored_copy'])
export type MatchedFingerprintKind = z.infer<typeof MatchedFingerprintKind>

/**
 * How strong the evidence for a record is. So far there is only one level. Later releases will
 * publish the records in a public log and add a level for this.
 */
const Rung = z.enum(['recorded'])

/** Whether a deposit stores the file or only its fingerprint. */
export const StoredContentKind = z.enum(['file', 'fingerprint'])
export type StoredContentKind = z.infer<typeof StoredContentKind>

const RequestKind = z.enum(['deposit', 'verify'])

/**
 * One entry of the history, also called a request: a deposit or a verification in any state. The
 * API calls for entries begin with `/process`.
 */
export const ProcessedRequest = z.object({
  id: z.uuid(),
  /** Id of the person who deposited or verified. Present only in lists of the whole company. */
  user_id: z.optional(z.uuid()),
  kind: RequestKind,
  created: z.iso.datetime(),
  /**
   * Sequence number of the entry's last change. All entries of a company share one sequence. Of
   * two copies of an entry, the one with the higher number is newer.
   */
  seq: z.number(),
  state: RequestState,
  /** Error code of an entry that ended without success. */
  code: z.optional(z.string()),
  /**
   * Name of the deposited file. For a verification, the name of the first of the documents that the
   * person has deposited; absent if there is none.
   */
  name: z.optional(z.string()),
  /**
   * Size in bytes of the deposited file, or of the reduced copy if the browser reduced a picture.
   * Absent for a verification.
   */
  size: z.optional(z.number()),
  /**
   * Bytes, width and height of the original picture. Present if the deposit stores a reduced copy.
   */
  reduced_from: z.optional(z.object({ bytes: z.number(), w: z.number(), h: z.number() })),
  media_type: z.optional(z.string()),
  category_id: z.optional(z.uuid()),
  /**
   * `fingerprint` if the deposit stores only the fingerprint of the file. Absent if it stores the
   * file.
   */
  store: z.optional(StoredContentKind),
  /** Time at which the stored file is deleted. Absent if it is stored for an unlimited time. */
  keep_until: z.optional(z.iso.datetime()),
  /**
   * Time at which the stored file was deleted, at the end of its category's retention. The record
   * stays, so the document can still be verified.
   */
  erased: z.optional(z.iso.datetime()),
  /** Time that the deposit's record states. Absent for entries from before this field. */
  recorded: z.optional(z.iso.datetime()),
  /** Id of the deposit's record, 22 base64url characters. Absent for a verification. */
  deposit_id: z.optional(z.string()),
  /**
   * Hash of the record of the deposit, or of the record that the verification found, in hex. From
   * this hash, pages draw the seal: a picture that differs for each record.
   */
  leaf_hash: z.optional(z.string()),
  rung: z.optional(Rung),
  /**
   * Result of the verification of a single document. Absent if several documents were verified
   * together: `items` then has the number of documents with each result.
   */
  verdict: z.optional(Verdict),
  match: z.optional(MatchedFingerprintKind),
  items: z.optional(z.object({ asked: z.number(), authentic: z.number(), not_found: z.number() }))
})
export type ProcessedRequest = z.infer<typeof ProcessedRequest>

const requestFilter = {
  kind: z.optional(RequestKind),
  state: z.optional(RequestState),
  category: z.optional(Id),
  /**
   * Words to search for. An entry matches if its file name contains all words, in any order,
   * regardless of case and accents.
   */
  q: SearchText,
  /** Only entries that were created at this time or later. */
  from: z.optional(z.iso.datetime({ offset: true })),
  /** Only entries that were created before this time. */
  to: z.optional(z.iso.datetime({ offset: true }))
}

/**
 * Lists the caller's own history entries, newest first. `scope=company` lists those of the whole
 * company and needs the permission `admin`. `cursor` is the id of the last entry that the caller
 * has received.
 */
export const listRequests = listEndpoint({
  path: '/process',
  access: 'user',
  scopes: ['history'],
  item: ProcessedRequest,
  input: { scope: z.optional(z.enum(['own', 'company'])), ...requestFilter }
})

/** The name of a time zone, such as `Europe/Paris`. */
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
 * Exports the caller's history entries that match the filter as one CSV file. The file is UTF-8
 * with a byte order mark. Names of categories are in the language `locale`.
 */
export const exportRequests = nonJsonEndpoint({
  method: 'GET',
  path: '/process/export',
  access: 'user',
  scopes: ['history'],
  input: z.strictObject({
    locale: z.optional(z.enum(['en', 'fr'])),
    /**
     * `machine`, the default: all fields by their names in the API, separated by commas. For
     * people, `spreadsheet`: headings, words, dates and separator of the language `locale`.
     */
    format: z.optional(z.enum(['machine', 'spreadsheet'])),
    /** Time zone of the dates of a `spreadsheet`. When absent, UTC. */
    time_zone: z.optional(TimeZone),
    ...requestFilter
  }),
  message: z.void()
})

/** Returns one history entry: a deposit or a verification of the caller. */
export const getRequest = endpoint({
  method: 'GET',
  path: '/process/{id}',
  access: 'user',
  scopes: ['deposit', 'history'],
  input: z.strictObject({ id: Id }),
  output: ProcessedRequest
})

/**
 * Streams changes of the caller's history. An event without a name contains a changed entry. The
 * event `tick` contains the sequence number of the last change. It is sent at the start and then
 * every 15 s. The event `reset` tells the client to load its list again. The last event is
 * `disabled` if the person or the company was disabled, otherwise `bye`.
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
