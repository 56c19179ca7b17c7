import * as z from 'zod/mini'
import { endpoint, stream } from './endpoint.ts'
import { longest, pattern } from './text-checks.ts'

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

/** Which of a deposit's two fingerprints was met. */
export const Match = z.enum(['original', 'stored_copy'])
export type Match = z.infer<typeof Match>

/** How firmly a record stands; only `recorded` exists until the log does. */
const Rung = z.enum(['recorded'])

/** What a deposit keeps. */
export const Store = z.enum(['file', 'fingerprint'])
export type Store = z.infer<typeof Store>

const RequestKind = z.enum(['deposit', 'verify'])

/** One processed thing in the history. */
export const ProcessedRequest = z.object({
  id: z.uuid(),
  /** Whose it is, in a list that holds those of others. */
  user_id: z.optional(z.uuid()),
  kind: RequestKind,
  created: z.iso.datetime(),
  /** Position of its last change in the company's events: an older one is ignored by readers. */
  seq: z.number(),
  state: RequestState,
  /** Why it ended badly: a code of the catalogue. */
  code: z.optional(z.string()),
  /** File name of a deposit. */
  name: z.optional(z.string()),
  /** Bytes kept (deposit). */
  size: z.optional(z.number()),
  /** The picture as it was chosen, where a reduced copy is kept: its bytes, width and height. */
  reduced_from: z.optional(z.object({ bytes: z.number(), w: z.number(), h: z.number() })),
  media_type: z.optional(z.string()),
  category_id: z.optional(z.uuid()),
  /** Absent where the file is kept. */
  store: z.optional(Store),
  /** Record id of the log, 22 characters. */
  deposit_id: z.optional(z.string()),
  /** Hex leaf hash: draws the seal. */
  leaf_hash: z.optional(z.string()),
  rung: z.optional(Rung),
  /** Verification: the verdict of one item, or counts of a batch. */
  verdict: z.optional(Verdict),
  match: z.optional(Match),
  items: z.optional(z.object({ asked: z.number(), authentic: z.number(), not_found: z.number() }))
})
export type ProcessedRequest = z.infer<typeof ProcessedRequest>

const requestFilter = {
  kind: z.optional(RequestKind),
  state: z.optional(RequestState),
  category: z.optional(z.uuid()),
  /** Words that the name of the document holds, in any order, whatever their case and accents. */
  q: z.optional(
    z
      .string()
      .check(
        z.minLength(1, { abort: true }),
        longest(100),
        pattern(/^\P{Cc}*$/u, 'no control characters')
      )
  ),
  /** Created at this moment or later. */
  from: z.optional(z.iso.datetime({ offset: true })),
  /** Created before this moment. */
  to: z.optional(z.iso.datetime({ offset: true }))
}

/**
 * The caller's own requests, newest first; with `scope=company`, which takes the permission `admin`,
 * everybody's in the company. `cursor` is the id of the last item seen.
 */
export const listRequests = endpoint({
  method: 'GET',
  path: '/process',
  access: 'user',
  paged: true,
  input: z.strictObject({
    scope: z.optional(z.enum(['own', 'company'])),
    limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(200))),
    cursor: z.optional(z.uuid()),
    ...requestFilter
  }),
  output: z.array(ProcessedRequest)
})

/** All that `listRequests` would page through, as CSV: UTF-8 with a mark, names of categories in `locale`. */
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
 * The caller's requests as they change. Unnamed events are requests; `tick` carries the sequence
 * (first at once, then every 15 s), `reset` asks for a reload of the list, `bye` and `disabled` end it.
 */
export const streamRequests = stream({
  method: 'GET',
  path: '/process/sse',
  access: 'user',
  input: z.strictObject({}),
  message: ProcessedRequest,
  errors: ['stream_limit_reached']
})
