import { fromBase64Url } from '../bytes.ts'
import { createCommitment } from './commitments.ts'
import { isDepositFieldValue } from './deposit-leaf.ts'
import { type Leaf, membersOf, parseLeaf } from './leaves.ts'
import {
  attempt,
  type BrokenReason,
  findIssuer,
  findPlace,
  hasSigned,
  type Issuer,
  type LogPlace,
  type MembershipFailure,
  pinnedKeys
} from './log-membership.ts'
import type { LogPolicy } from './log-policy.ts'
import { parseReceipt, type Receipt } from './receipt.ts'
import type { VerifierKey } from './signed-notes.ts'

export interface VerificationInput {
  /** The bytes of a receipt. */
  receipt: Uint8Array
  /** `sha256:` and 64 hex digits: the fingerprint of the file in hand. */
  digest?: string
}

/** Whom the reader trusts. Only policies without witnesses count: `quorum none`. */
export interface Trust {
  policies: readonly LogPolicy[]
}

/** The steps of each verification, in their order. */
export const verificationSteps = [
  'parse',
  'leaf',
  'open',
  'match',
  'inclusion',
  'signature',
  'issuer',
  'anchor',
  'witnesses',
  'time',
  'status'
] as const
export type VerificationStep = (typeof verificationSteps)[number]

/** `unknown`: the step was not taken, or what it asks for is not in the receipt. */
export type StepResult = 'passed' | 'failed' | 'unknown'

export type Outcome =
  | { verdict: 'log_broken' | 'differs' | 'expired' | 'authentic' | 'matches' }
  | { verdict: 'receipt_broken'; reason: BrokenReason }
  | { verdict: 'indeterminate'; reason: 'unknown_version' | 'fields_hidden' | 'no_file' }

/** Reported side by side: none of them is concluded from another. */
export interface VerificationFacts {
  match: 'original' | 'stored_copy' | 'differs' | 'none'
  /**
   * Nothing disclosed shows that the log had the original. If it kept other bytes or none, only the
   * depositor's browser hashed it.
   */
  original_declared: boolean
  issuer: 'pinned' | 'unknown'
  inclusion: 'proven' | 'unproven' | 'broken'
  consistency: 'first_visit' | 'broken'
  witnesses: 'none'
  /** By the clock of the log. */
  time: { claimed: string } | 'not_disclosed'
  depositor: 'disclosed' | 'not_disclosed'
  status: 'unchecked' | 'expired'
}

export interface Verification {
  outcome: Outcome
  steps: Record<VerificationStep, StepResult>
  facts: VerificationFacts
  /** Absent unless all steps up to `issuer` could be taken and none failed. */
  record?: { origin: string; id: string; index: bigint; size: bigint; key: VerifierKey }
  /** The opened fields by their names. Empty if the commitment of one of them does not hold. */
  fields: ReadonlyMap<string, string>
  /** Names of openings to which the leaf has no commitment. */
  unknownFields: string[]
}

type DepositLeaf = Extract<Leaf, { type: 'deposit' }>
type Fields = ReadonlyMap<string, string>

interface Findings {
  // undefined if it failed, or if the finding before it did
  opened: { fields: Fields; unknown: string[] } | undefined
  place: LogPlace | undefined
  isSigned: boolean
  issuer: Issuer | MembershipFailure | undefined
  match: VerificationFacts['match']
  isDeclared: boolean
  isExpired: boolean
}

const noFields: Fields = new Map()
const altered: Outcome = { verdict: 'receipt_broken', reason: 'receipt_altered' }
const unknownVersion: Outcome = { verdict: 'indeterminate', reason: 'unknown_version' }

/**
 * Judges a file by its receipt. Never throws, whatever the receipt contains. `now` decides whether
 * the record has expired.
 */
export function verify(input: VerificationInput, trust: Trust, now: Date): Verification {
  const parsed = attempt(() => ({ receipt: parseReceipt(input.receipt) }))
  if (!parsed) return nothingVerified('parse', altered)
  const { receipt } = parsed
  if (!receipt) return nothingVerified('parse', unknownVersion)
  const leaf = attempt(() => parseLeaf(receipt.leaf))
  if (!leaf) return nothingVerified('leaf', altered)
  if (leaf.type !== 'deposit') return nothingVerified('leaf', unknownVersion)

  const opened = attempt(() => openFields(receipt, leaf))
  const fields = opened?.fields ?? noFields
  const pinned = pinnedKeys(trust.policies, receipt.origin)
  const place = findPlace(receipt.proof, receipt.origin, leaf.hash)
  const isSigned = place !== undefined && hasSigned(place.checkpoint, receipt.key, pinned)
  const issuer = isSigned ? findIssuer(receipt, place.checkpoint, pinned) : undefined
  const match = matchOf(input.digest, fields)
  const isExpired = hasExpired(fields, now)
  const isDeclared =
    match === 'original' && (fields.get('stored') !== input.digest || hasTransform(fields))
  const findings = { opened, place, isSigned, issuer, match, isDeclared, isExpired }
  return {
    outcome: outcomeOf(findings, input.digest !== undefined),
    steps: stepsOf(findings),
    facts: factsOf(findings),
    ...(place &&
      typeof issuer === 'object' && {
        record: {
          origin: receipt.origin,
          id: leaf.id,
          index: place.index,
          size: place.checkpoint.size,
          key: issuer.key
        }
      }),
    fields,
    unknownFields: opened?.unknown ?? []
  }
}

function nothingVerified(step: 'parse' | 'leaf', outcome: Outcome): Verification {
  const result = outcome === altered ? 'failed' : 'unknown'
  return {
    outcome,
    steps: { ...noSteps, ...(step === 'leaf' && { parse: 'passed' as const }), [step]: result },
    facts: { ...factsOf(nothing), inclusion: 'unproven' },
    fields: noFields,
    unknownFields: []
  }
}

// the first that applies
function outcomeOf(findings: Findings, hasFile: boolean): Outcome {
  const { opened, place, isSigned, issuer, match, isExpired } = findings
  if (issuer === 'log_broken') return { verdict: issuer }
  if (!opened) return altered
  if (!place) return { verdict: 'receipt_broken', reason: 'proof_invalid' }
  if (!isSigned || !issuer) return { verdict: 'receipt_broken', reason: 'signature_invalid' }
  if (issuer === 'unknown_version') return unknownVersion
  if (typeof issuer === 'string') return { verdict: 'receipt_broken', reason: issuer }
  if (match === 'differs') return { verdict: 'differs' }
  if (isExpired && (match !== 'none' || !hasFile)) return { verdict: 'expired' }
  if (!hasFile) return { verdict: 'indeterminate', reason: 'no_file' }
  // who hides the expiry could hide that it is over
  if (match === 'none' || !opened.fields.has('expires'))
    return { verdict: 'indeterminate', reason: 'fields_hidden' }
  return { verdict: issuer.isPinned ? 'authentic' : 'matches' }
}

const noSteps: Record<VerificationStep, StepResult> = {
  parse: 'unknown',
  leaf: 'unknown',
  open: 'unknown',
  match: 'unknown',
  inclusion: 'unknown',
  signature: 'unknown',
  issuer: 'unknown',
  anchor: 'unknown',
  witnesses: 'unknown',
  time: 'unknown',
  status: 'unknown'
}

function stepsOf({ opened, place, isSigned, issuer, match, isExpired }: Findings) {
  const passedIf = (passed: boolean): StepResult => (passed ? 'passed' : 'failed')
  const isKnown = typeof issuer === 'object' ? issuer.isPinned : issuer !== 'unknown_version'
  return {
    ...noSteps,
    parse: passedIf(true),
    leaf: passedIf(true),
    open: passedIf(opened !== undefined),
    match: match === 'none' ? noSteps.match : passedIf(match !== 'differs'),
    inclusion: passedIf(place !== undefined),
    signature: place ? passedIf(isSigned) : noSteps.signature,
    issuer: issuer && isKnown ? passedIf(typeof issuer === 'object') : noSteps.issuer,
    status: isExpired ? passedIf(false) : noSteps.status
  }
}

function factsOf({
  opened,
  place,
  issuer,
  match,
  isDeclared,
  isExpired
}: Findings): VerificationFacts {
  const fields = opened?.fields ?? noFields
  const time = fields.get('time')
  return {
    match,
    original_declared: isDeclared,
    issuer: typeof issuer === 'object' && issuer.isPinned ? 'pinned' : 'unknown',
    inclusion: place ? 'proven' : 'broken',
    consistency: issuer === 'log_broken' ? 'broken' : 'first_visit',
    witnesses: 'none',
    time: time === undefined ? 'not_disclosed' : { claimed: time },
    depositor: fields.has('actor') ? 'disclosed' : 'not_disclosed',
    status: isExpired ? 'expired' : 'unchecked'
  }
}

// fields on whose form the verdict depends
const judged = ['orig', 'stored', 'time', 'expires'] as const

function openFields({ origin, open }: Receipt, { id, commitments }: DepositLeaf) {
  const fields = new Map<string, string>()
  const unknown: string[] = []
  for (const [name, opening] of open) {
    const commitment = commitments.get(name)
    if (commitment === undefined) {
      unknown.push(name)
      continue
    }
    const [salt, value] = ['salt', 'value'].map(member => membersOf(opening).get(member))
    if (typeof salt !== 'string' || typeof value !== 'string')
      throw new Error('receipt: an opening has a salt and a value')
    if (createCommitment({ origin, id, name, salt: fromBase64Url(salt), value }) !== commitment)
      throw new Error('receipt: an opening does not fit its commitment')
    fields.set(name, value)
  }
  for (const name of judged) {
    const value = fields.get(name)
    if (value !== undefined && !isDepositFieldValue(name, value))
      throw new Error(`receipt: bad value of "${name}"`)
  }
  return { fields, unknown }
}

function matchOf(digest: string | undefined, fields: Fields): VerificationFacts['match'] {
  const [orig, stored, transform] = ['orig', 'stored', 'transform'].map(name => fields.get(name))
  if (digest === undefined) return 'none'
  if (digest === orig) return 'original'
  // without a transform, the log took only bytes with the fingerprint of the original
  const isOnlyOne = transform === '' && (orig ?? stored ?? '') !== ''
  if (digest === stored) return isOnlyOne ? 'original' : 'stored_copy'
  const areAllKnown = orig !== undefined && stored !== undefined
  return areAllKnown || isOnlyOne ? 'differs' : 'none'
}

function hasTransform(fields: Fields): boolean {
  return (fields.get('transform') ?? '') !== ''
}

function hasExpired(fields: Fields, now: Date): boolean {
  const expires = fields.get('expires') ?? ''
  return expires !== '' && new Date(expires) <= now
}

const nothing: Findings = {
  opened: undefined,
  place: undefined,
  isSigned: false,
  issuer: undefined,
  match: 'none',
  isDeclared: false,
  isExpired: false
}
