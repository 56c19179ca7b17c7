import { fromBase64Url, fromUtf8 } from '../bytes.ts'

/**
 * Returns the payload of a session token without verifying it, which only the issuer can. Returns
 * undefined where the second segment is missing or is not a JSON object.
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

/** Returns when a token expires, in seconds since the epoch, or undefined. */
export function expiryOf(token: string): number | undefined {
  const exp = readPayload(token)?.['exp']
  return typeof exp === 'number' && Number.isFinite(exp) ? exp : undefined
}

/**
 * Returns the seconds by which `now` is ahead of the issuer's clock. `token` must have just
 * arrived. Returns 0 where it has no `iat`, and for differences so small that the network explains
 * them.
 */
export function clockSkew(token: string, now: number): number {
  const iat = readPayload(token)?.['iat']
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return 0
  const ahead = Math.round(now / 1000 - iat)
  return Math.abs(ahead) > 10 ? ahead : 0
}

/**
 * Returns whether a token with the expiry `exp` is valid for more than a second, so that it does
 * not expire during a call.
 */
export function isUsable(exp: number, now: number): boolean {
  return exp * 1000 - now > 1000
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
