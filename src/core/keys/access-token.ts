import { fromBase64Url, fromUtf8 } from '../bytes.ts'

/**
 * Returns the payload of a session token without verifying the signature, because a browser does
 * not have the key. Returns undefined if the token's second part is not a JSON object.
 */
export function decodeTokenPayload(token: string): Record<string, unknown> | undefined {
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

/**
 * Returns the expiry time of a session token in seconds since 1970, or undefined if the token has
 * none.
 */
export function readTokenExpirySeconds(token: string): number | undefined {
  const exp = decodeTokenPayload(token)?.['exp']
  return typeof exp === 'number' && Number.isFinite(exp) ? exp : undefined
}

/**
 * Returns how many seconds this device's clock is ahead of the server's clock. Negative if it is
 * behind. `nowMs` is the device's time in milliseconds when the session token arrived from the
 * server. Returns 0 for a difference of at most 10 seconds, and for a token without a time of
 * issue.
 */
export function secondsAheadOfServer(token: string, nowMs: number): number {
  const iat = decodeTokenPayload(token)?.['iat']
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return 0
  const ahead = Math.round(nowMs / 1000 - iat)
  return Math.abs(ahead) > 10 ? ahead : 0
}

/**
 * Returns whether a session token is valid for more than one second from `nowMs`, long enough for a
 * call. `expSeconds` is the token's time of expiry in seconds, and `nowMs` the current time in
 * milliseconds.
 */
export function isTokenUsable(expSeconds: number, nowMs: number): boolean {
  return expSeconds * 1000 - nowMs > 1000
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
