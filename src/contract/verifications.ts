import * as z from 'zod/mini'
import { AnyCaseSha256, Sha256 } from './deposits.ts'
import { endpoint } from './kit/endpoint.ts'
import { maxFingerprintsWhenSignedIn } from './kit/limits.ts'
import { MatchedFingerprintKind, Verdict } from './requests.ts'

export const FoundRecord = z.object({
  match: MatchedFingerprintKind,
  // by the server's clock
  recorded: z.iso.datetime(),
  /**
   * The fingerprint of the record itself. It is the same for everybody who is shown this record, and
   * the seal on the pages is drawn from it.
   */
  leaf_hash: Sha256
})
export type FoundRecord = z.infer<typeof FoundRecord>

const OwnRecord = z.extend(FoundRecord, {
  // as in `/deposit/{id}`
  deposit_id: z.string(),
  // of the history entry
  request_id: z.uuid()
})

export const VerificationResult = z.object({
  sha256: Sha256,
  verdict: Verdict,
  // that owns the searched register
  company: z.string(),
  at: z.iso.datetime(),
  // the oldest with this original file, then the oldest with this stored copy
  findings: z.array(FoundRecord),
  // that the caller may find
  records: z.number(),
  // the oldest of them by the caller
  own: z.optional(OwnRecord)
})
export type VerificationResult = z.infer<typeof VerificationResult>

/** Looks up fingerprints: which of them are on record, and since when. */
export const verify = endpoint({
  method: 'POST',
  path: '/verify',
  access: 'public',
  suspended: 'verification',
  scopes: ['verify'],
  input: z.strictObject({
    items: z
      .array(z.strictObject({ sha256: AnyCaseSha256 }))
      .check(z.minLength(1), z.maxLength(maxFingerprintsWhenSignedIn))
  }),
  output: z.object({ items: z.array(VerificationResult), request_id: z.optional(z.uuid()) }),
  errors: ['too_many_items', 'lookup_limited', 'request_limit_reached']
})

export const verificationCalls = { verify }
