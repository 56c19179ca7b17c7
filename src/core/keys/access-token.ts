import { fromBase64Url, fromUtf8 } from '../bytes.ts'

/** Does not verify the signature, because a browser does not have the key. */
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

export function readTokenExpirySeconds(token: string): number | undefined {
  const exp = decodeTokenPayload(token)?.['exp']
  return typeof exp === 'number' && Number.isFinite(exp) ? exp : undefined
}

/**
 * Returns how far this device's clock is ahead, 0 up to 10 seconds. `nowMs` is when the token
 * arrived.
 */
export function secondsAheadOfServer(token: string, nowMs: number): number {
  const iat = decodeTokenPayload(token)?.['iat']
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return 0
  const ahead = Math.round(nowMs / 1000 - iat)
  return Math.abs(ahead) > 10 ? ahead : 0
}

/** Whether a token lasts at least another second, long enough for a call. */
export function isTokenUsable(expSeconds: number, nowMs: number): boolean {
  return expSeconds * 1000 - nowMs > 1000
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
