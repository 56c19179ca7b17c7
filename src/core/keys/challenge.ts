import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, fromBase64Url, fromUtf8, toBase64Url, toUtf8 } from '../bytes.ts'
import { isActiveKdf, type KdfId, kdfParameters } from './kdf.ts'

/**
 * What a challenge may be signed for.
 * - `login`: a sign-in.
 * - `signup`: a sign-up, the setup of the first operator, or a step that a mailed link starts: the
 *   confirmation of a sign-up, the activation of an account or the reset of a password.
 * - `rekey`: a change of password or e-mail, or the deletion of the account.
 * - `confirm`: a repeated check of the password before a sensitive call.
 */
export const challengePurposes = ['login', 'signup', 'rekey', 'confirm'] as const
export type ChallengePurpose = (typeof challengePurposes)[number]

/** Lifetime of a challenge in seconds. */
export const challengeLifetimeSeconds = 120

/**
 * The content of a challenge. `iat` and `exp` are the times of its issue and expiry, in seconds
 * since 1970.
 */
export interface ChallengePayload {
  /** Host name for which the challenge is valid, without port. */
  aud: string
  /** Hash of the e-mail for which the challenge is valid, made by `emailHash`. */
  eh: string
  /** A random number of 16 bytes in base64url. The server accepts each number once. */
  n: string
  iat: number
  exp: number
  kdf: string
  /** Id of the secret key with which the server has computed the MAC of the challenge. */
  mk: string
}

/**
 * The format of each field of a challenge's payload. Written by hand, because zod would make the
 * script of the web worker that derives keys a third larger.
 */
const forms: Record<keyof ChallengePayload, RegExp | 'time'> = {
  aud: /^[a-z0-9.-]{1,253}$/,
  eh: /^[\w-]{42}[AEIMQUYcgkosw048]$/,
  n: /^[\w-]{21}[AQgw]$/,
  iat: 'time',
  exp: 'time',
  kdf: /^[a-z0-9]{1,16}$/,
  mk: /^[\w-]{1,32}$/
}

/** A parsed challenge: a text from the server that a browser signs to prove that it has a key. */
export interface Challenge {
  payload: ChallengePayload
  /** The bytes that the challenge's MAC covers: everything before the last dot. */
  signed: Bytes
  mac: Bytes
}

/** Thrown for a challenge that a browser must not sign. `reason` says which check failed. */
export class ChallengeError extends Error {
  readonly reason: 'form' | 'host' | 'email' | 'lifetime' | 'kdf'

  constructor(reason: ChallengeError['reason']) {
    super(`challenge: wrong ${reason}`)
    this.name = 'ChallengeError'
    this.reason = reason
  }
}

/**
 * Returns a challenge as text: `login.v1.<payload>.<mac>`. Only the server calls it, because `mac`
 * needs a secret key.
 */
export function formatChallenge(
  purpose: ChallengePurpose,
  payload: ChallengePayload,
  mac: (signed: Bytes) => Uint8Array
): string {
  const signed = `${purpose}.v1.${toBase64Url(toUtf8(JSON.stringify(payload)))}`
  const challenge = `${signed}.${toBase64Url(mac(toUtf8(signed)))}`
  if (!parseChallenge(challenge, purpose)) throw new Error('challenge: payload or MAC out of form')
  return challenge
}

/**
 * Parses a challenge. Returns undefined if it is malformed or for another purpose. Does not check
 * the MAC, the host, the e-mail or the time.
 */
export function parseChallenge(text: string, purpose: ChallengePurpose): Challenge | undefined {
  const match = /^(login|signup|rekey|confirm)\.v1\.([\w-]{1,600})\.([\w-]{43})$/.exec(text)
  if (!match || match[1] !== purpose) return undefined
  try {
    const payload: unknown = JSON.parse(fromUtf8(fromBase64Url(match[2] ?? '')))
    if (!isPayload(payload)) return undefined
    const mac = fromBase64Url(match[3] ?? '')
    return { payload, signed: toUtf8(text.slice(0, text.lastIndexOf('.'))), mac }
  } catch {
    return undefined
  }
}

function isPayload(value: unknown): value is ChallengePayload {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const members = Object.entries(value)
  return (
    members.length === Object.keys(forms).length &&
    members.every(([name, member]) => Object.hasOwn(forms, name) && hasForm(name, member))
  )
}

function hasForm(name: string, member: unknown): boolean {
  const form = forms[name as keyof ChallengePayload] // as: the caller has looked it up
  if (form === 'time') return Number.isSafeInteger(member) && Number(member) >= 0
  return typeof member === 'string' && form.test(member)
}

/** A challenge, and the purpose, host and e-mail that it must be valid for. */
export interface ChallengeExpectation {
  challenge: string
  purpose: ChallengePurpose
  /**
   * Host name of the page, from `location.hostname`. A person's key is the same on every host, so a
   * challenge for another host must not be signed.
   */
  host: string
  /** E-mail of the person in canonical form. */
  email: string
}

/**
 * Checks a challenge before a browser signs it. Returns the bytes to sign and the id of the key
 * derivation. Throws a `ChallengeError` if the host, e-mail, purpose, lifetime or key derivation is
 * not acceptable. Does not check whether the challenge has expired, because the browser's clock may
 * be wrong.
 */
export function checkChallengeBeforeSigning(
  { challenge, purpose, host, email }: ChallengeExpectation,
  table: Parameters<typeof isActiveKdf>[1] = kdfParameters
): { bytes: Bytes; kdf: KdfId } {
  const payload = parseChallenge(challenge, purpose)?.payload
  if (!payload) throw new ChallengeError('form')
  if (payload.aud !== host) throw new ChallengeError('host')
  if (payload.eh !== emailHash(email)) throw new ChallengeError('email')
  if (payload.exp - payload.iat !== challengeLifetimeSeconds) throw new ChallengeError('lifetime')
  if (!isActiveKdf(payload.kdf, table)) throw new ChallengeError('kdf')
  return { bytes: toUtf8(challenge), kdf: payload.kdf }
}

/**
 * Returns the SHA-256 of an e-mail in base64url. `email` must already be in the form that
 * `canonicalEmail` returns.
 */
export function emailHash(email: string): string {
  return toBase64Url(sha256(toUtf8(email)))
}

/**
 * Returns `<challenge>.<signature>`, the value of the API field `challenge_response`. `signature`
 * is the ES256 signature of the challenge: `r` and `s`, 64 bytes.
 */
export function formatChallengeResponse(challenge: string, signature: Uint8Array): string {
  if (signature.length !== 64) throw new Error('challenge: signature is not 64 bytes')
  return `${challenge}.${toBase64Url(signature)}`
}

/**
 * Splits a `challenge_response` into challenge and signature. Returns undefined if the signature is
 * not 64 bytes in base64url.
 */
export function splitChallengeResponse(
  text: string
): { challenge: string; signature: Bytes } | undefined {
  const dot = text.lastIndexOf('.')
  const signature = text.slice(dot + 1)
  if (dot < 1 || signature.length !== 86) return undefined
  try {
    return { challenge: text.slice(0, dot), signature: fromBase64Url(signature) }
  } catch {
    return undefined
  }
}
