import { fromBase64Url, fromUtf8 } from '../bytes.ts'

/**
 * What a session token says, unchecked: only its issuer can check it. Nothing for an empty token, for
 * one without a second segment, and for one whose second segment is not a JSON object.
 */
export function readPayload(token: string): Record<string, unknown> | undefined {
  const segment = token.split('.')[1]
  if (!segment) return undefined
  try {
    const payload: unknown = JSON.parse(fromUtf8(fromBase64Url(segment)))
    // as: a JSON object is a record of unknown members
    return isObject(payload) ? (payload as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Seconds since the epoch at which a token ends; nothing where it does not say. */
export function expiryOf(token: string): number | undefined {
  const exp = readPayload(token)?.['exp']
  return typeof exp === 'number' && Number.isFinite(exp) ? exp : undefined
}

/**
 * Seconds by which a clock is ahead of the issuer's, told by a token that has just arrived; 0 where it
 * does not say when it was made, and where the way of the answer explains the difference.
 */
export function clockAhead(token: string, now: number): number {
  const iat = readPayload(token)?.['iat']
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return 0
  const ahead = Math.round(now / 1000 - iat)
  return Math.abs(ahead) > 10 ? ahead : 0
}

/** A token needs more than one second left, or it would end during the call it is sent with. */
export function isUsable(exp: number, now: number): boolean {
  return exp * 1000 - now > 1000
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
