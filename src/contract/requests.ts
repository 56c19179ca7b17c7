import * as z from 'zod/mini'
import { endpoint, stream } from './endpoint.ts'
import { list, Search } from './lists.ts'

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

export const Verdict = z.enum(['authentic', 'not_found'])
export type Verdict = z.infer<typeof Verdict>

/** Whether the fingerprint of the original file or that of the stored copy matched. */
export const Match = z.enum(['original', 'stored_copy'])
export type Match = z.infer<typeof Match>

/** How strong the evidence of a record is. There is only one level until the log exists. */
const Rung = z.enum(['recorded'])

/** What a deposit stores: the file, or only its fingerprint. */
export const Store = z.enum(['file', 'fingerprint'])
export type Store = z.infer<typeof Store>

const RequestKind = z.enum(['deposit', 'verify'])

/** One entry of the history: a deposit or a verification. */
export const ProcessedRequest = z.object({
  id: z.uuid(),
  /** The person who made the request. Only in lists of the whole company. */
  user_id: z.optional(z.uuid()),
  kind: RequestKind,
  created: z.iso.datetime(),
  /**
   * Sequence number of the request's last change among the company's events. A reader that has a
   * higher number ignores this state.
   */
  seq: z.number(),
  state: RequestState,
  /** Error code of a failed request. */
  code: z.optional(z.string()),
  /** File name of a deposit. */
  name: z.optional(z.string()),
  /** Stored bytes of a deposit. */
  size: z.optional(z.number()),
  /** Bytes, width and height of the original picture, where a reduced copy is stored. */
  reduced_from: z.optional(z.object({ bytes: z.number(), w: z.number(), h: z.number() })),
  media_type: z.optional(z.string()),
  category_id: z.optional(z.uuid()),
  /** Absent for deposits that store the file. */
  store: z.optional(Store),
  /** Record id of the log, 22 characters. */
  deposit_id: z.optional(z.string()),
  /** Leaf hash in hex, which determines the seal. */
  leaf_hash: z.optional(z.string()),
  rung: z.optional(Rung),
  /**
   * Verdict of a verification with one item. A batch has `items`, the number of items per verdict.
   */
  verdict: z.optional(Verdict),
  match: z.optional(Match),
  items: z.optional(z.object({ asked: z.number(), authentic: z.number(), not_found: z.number() }))
})
export type ProcessedRequest = z.infer<typeof ProcessedRequest>

const requestFilter = {
  kind: z.optional(RequestKind),
  state: z.optional(RequestState),
  category: z.optional(z.uuid()),
  /** Words that the document's name contains, in any order, regardless of case and accents. */
  q: Search,
  /** Created at this moment or later. */
  from: z.optional(z.iso.datetime({ offset: true })),
  /** Created before this moment. */
  to: z.optional(z.iso.datetime({ offset: true }))
}

/**
 * Lists the caller's own requests, newest first. `scope=company` lists those of the whole company
 * and needs the permission `admin`. `cursor` is the id of the last item that the caller has
 * received.
 */
export const listRequests = list({
  path: '/process',
  access: 'user',
  item: ProcessedRequest,
  input: { scope: z.optional(z.enum(['own', 'company'])), ...requestFilter }
})

/**
 * Exports all pages of `listRequests` as one CSV file: UTF-8 with a byte order mark, and category
 * names in the language `locale`.
 */
export const exportRequests = stream({
  method: 'GET',
  path: '/process/export',
  access: 'user',
  input: z.strictObject({ locale: z.optional(z.enum(['en', 'fr'])), ...requestFilter }),
  message: z.void()
})

export const getRequest = endpoint({
  method: 'GET',
  path: '/process/{id}',
  access: 'user',
  input: z.strictObject({ id: z.uuid() }),
  output: ProcessedRequest
})

/**
 * Streams changes of the caller's requests. Each unnamed event is a request. The event `tick` has
 * the sequence number of the last change and comes at once, then every 15 s. `reset` means that the
 * list must be loaded again. `bye` and `disabled` end the stream.
 */
export const streamRequests = stream({
  method: 'GET',
  path: '/process/sse',
  access: 'user',
  input: z.strictObject({}),
  message: ProcessedRequest,
  errors: ['stream_limit_reached']
})

export const requestCalls = { listRequests, getRequest }

export const requestStreams = { streamRequests, exportRequests }
