import * as z from 'zod/mini'
import { AnyCaseSha256, Sha256 } from './deposits.ts'
import { endpoint } from './kit/endpoint.ts'
import { maxFingerprintsWhenSignedIn } from './kit/limits.ts'
import { MatchedFingerprintKind, Verdict } from './requests.ts'

/**
 * A deposit's record that a verification found. It never reveals the person who deposited the
 * document.
 */
export const FoundRecord = z.object({
  match: MatchedFingerprintKind,
  /** Time at which the deposit was recorded, by the server's clock. */
  recorded: z.iso.datetime(),
  /**
   * Leaf hash of the record in hex. Pages draw the seal, a picture that differs for each record,
   * from this hash.
   */
  leaf_hash: Sha256
})
export type FoundRecord = z.infer<typeof FoundRecord>

/** The caller's own record of a verified document. */
const OwnRecord = z.extend(FoundRecord, {
  /** Id of the record, as in the calls below `/deposit/{id}`. */
  deposit_id: z.string(),
  /** Id of the deposit's history entry. */
  request_id: z.uuid()
})

/** The result of verifying one document. */
export const VerificationResult = z.object({
  sha256: Sha256,
  verdict: Verdict,
  /** Name of the company that owns the searched register. */
  company: z.string(),
  /** Time of the verification, by the server's clock. */
  at: z.iso.datetime(),
  /**
   * At most two records: first the oldest record whose original file has the fingerprint, then the
   * oldest record whose stored copy has the fingerprint. Empty if the verdict is `not_found`.
   */
  findings: z.array(FoundRecord),
  /** Number of records of this fingerprint that the caller may find. */
  records: z.number(),
  /** The oldest of these records that the caller has made. Absent if the caller has made none. */
  own: z.optional(OwnRecord)
})
export type VerificationResult = z.infer<typeof VerificationResult>

/**
 * Verifies documents by their fingerprints. The documents themselves stay on the caller's device.
 */
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
