import * as z from 'zod/mini'
import { AnyCaseSha256, Sha256 } from './deposits.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { maxFingerprintsWhenSignedIn, registerLimits } from './kit/limits.ts'
import { maxCodeUnitsCheck } from './kit/text-checks.ts'
import { ColumnLabels } from './registers.ts'
import { MatchedFingerprintKind, Rung, Verdict } from './requests.ts'

export const FoundRecord = z.object({
  match: MatchedFingerprintKind,
  // by the server's clock
  recorded: z.iso.datetime(),
  /**
   * The fingerprint of the record itself. It is the same for everybody who is shown this record, and
   * the seal on the pages is drawn from it.
   */
  leaf_hash: Sha256,
  // absent once it is sealed
  rung: z.optional(Rung)
})
export type FoundRecord = z.infer<typeof FoundRecord>

const OwnRecord = z.extend(FoundRecord, {
  // as in `/deposit/{id}`
  deposit_id: z.string(),
  // of the history entry
  request_id: z.uuid()
})

/** `found` in `values` has the key and the shown columns of the row, in their order. */
export const SourceAnswer = z.object({
  // of a data source in `sources`
  id: z.uuid(),
  result: z.enum(['found', 'not_found', 'unreachable', 'not_asked']),
  values: z.optional(z.array(z.object({ labels: ColumnLabels, value: z.string() })))
})
export type SourceAnswer = z.infer<typeof SourceAnswer>

export const VerificationResult = z.object({
  // absent for a look-up by reference
  sha256: z.optional(Sha256),
  verdict: Verdict,
  // that owns the searched register
  company: z.string(),
  at: z.iso.datetime(),
  // the oldest with this original file, then the oldest with this stored copy
  findings: z.array(FoundRecord),
  // that the caller may find
  records: z.number(),
  // the oldest of them by the caller
  own: z.optional(OwnRecord),
  // the registers that could have the document, in the order of `sources`
  sources: z.array(SourceAnswer)
})
export type VerificationResult = z.infer<typeof VerificationResult>

const ReferenceText = z.string().check(z.minLength(1), maxCodeUnitsCheck(1_000))

const FingerprintItem = z.strictObject({ sha256: AnyCaseSha256 })

/** `fields` has the values of the register's check columns, in their order; dates `YYYY-MM-DD`. */
const ReferenceItem = z.strictObject({
  reference: ReferenceText,
  data_source: Id,
  fields: z.array(ReferenceText).check(z.maxLength(registerLimits.checkColumns))
})

/** A register as it was asked. */
export const AskedSource = z.object({
  id: z.uuid(),
  name: z.string(),
  // of its list, and when that was imported
  version: z.int(),
  at: z.iso.datetime()
})
export type AskedSource = z.infer<typeof AskedSource>

/**
 * Looks up fingerprints, among the deposits and in the registers that the caller may ask, or references
 * in one of these registers: which of them are known, and since when.
 */
export const verify = endpoint({
  method: 'POST',
  path: '/verify',
  access: 'public',
  suspended: 'verification',
  scopes: ['verify'],
  input: z.strictObject({
    items: z
      .array(z.union([FingerprintItem, ReferenceItem]))
      .check(z.minLength(1), z.maxLength(maxFingerprintsWhenSignedIn))
  }),
  output: z.object({
    items: z.array(VerificationResult),
    sources: z.array(AskedSource),
    request_id: z.optional(z.uuid())
  }),
  errors: ['too_many_items', 'lookup_limited', 'request_limit_reached']
})

/** A register in which the caller may look up references, and what must be known for it. */
export const OfferedSource = z.object({
  id: z.uuid(),
  name: z.string(),
  reference: ColumnLabels,
  // the check columns, in the order of `fields` of a look-up
  fields: z.array(z.object({ labels: ColumnLabels, type: z.enum(['text', 'date']) }))
})
export type OfferedSource = z.infer<typeof OfferedSource>

/** Lists the registers in which the caller may look up references without a file. */
export const listOfferedSources = endpoint({
  method: 'GET',
  path: '/data_source',
  access: 'public',
  suspended: 'verification',
  scopes: ['verify'],
  input: z.strictObject({}),
  output: z.array(OfferedSource)
})

export const verificationCalls = { verify, listOfferedSources }
