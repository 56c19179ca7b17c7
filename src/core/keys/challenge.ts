import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, fromBase64Url, fromUtf8, toBase64Url, toUtf8 } from '../bytes.ts'
import { isActiveKdf, type KdfId, kdfParameters } from './kdf.ts'

/**
 * `signup` is also the first operator's, and that of mailed links. `rekey` changes password or
 * e-mail, or deletes the account. `confirm` comes before a sensitive call.
 */
export const challengePurposes = ['login', 'signup', 'rekey', 'confirm'] as const
export type ChallengePurpose = (typeof challengePurposes)[number]

export const challengeLifetimeSeconds = 120

export interface ChallengePayload {
  aud: string
  /** Made by `emailHash`. */
  eh: string
  // 16 random bytes, accepted once
  n: string
  iat: number
  exp: number
  kdf: string
  // id of the server's key
  mk: string
}

// by hand, because zod would make the worker that derives keys a third larger
const forms: Record<keyof ChallengePayload, RegExp | 'time'> = {
  aud: /^[a-z0-9.-]{1,253}$/,
  eh: /^[\w-]{42}[AEIMQUYcgkosw048]$/,
  n: /^[\w-]{21}[AQgw]$/,
  iat: 'time',
  exp: 'time',
  kdf: /^[a-z0-9]{1,16}$/,
  mk: /^[\w-]{1,32}$/
}

/** A text from the server that a browser signs to prove that it has a key. */
export interface Challenge {
  payload: ChallengePayload
  // everything before the last dot
  signed: Bytes
  mac: Bytes
}

/** Thrown for a challenge that a browser must not sign. */
export class ChallengeError extends Error {
  readonly reason: 'form' | 'host' | 'email' | 'lifetime' | 'kdf'

  constructor(reason: ChallengeError['reason']) {
    super(`challenge: wrong ${reason}`)
    this.name = 'ChallengeError'
    this.reason = reason
  }
}

/** `login.v1.<payload>.<mac>` */
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

/** Does not check the MAC, the host, the e-mail or the time. */
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

export interface ChallengeExpectation {
  challenge: string
  purpose: ChallengePurpose
  /** From `location.hostname`: a key is the same on every host, so other hosts are refused. */
  host: string
  email: string
}

/**
 * Returns the bytes to sign and the key derivation, or throws a `ChallengeError`. The browser's
 * clock may be wrong, so expiry is not checked.
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

/** `email` must be canonical. */
export function emailHash(email: string): string {
  return toBase64Url(sha256(toUtf8(email)))
}

/** `<challenge>.<signature>`: ES256, `r` and `s`, 64 bytes. */
export function formatChallengeResponse(challenge: string, signature: Uint8Array): string {
  if (signature.length !== 64) throw new Error('challenge: signature is not 64 bytes')
  return `${challenge}.${toBase64Url(signature)}`
}

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
