import { fromBase64Url, toHex } from './evidence/bytes.ts'

/**
 * The SHA-256 a person pastes, as 64 lower-case hex digits: hex in either case, whole or in groups,
 * or base64 of 32 bytes in either alphabet, with or without `sha256:`. Nothing for anything else.
 * `SHA256: E3B0 C442 …` → `e3b0c442…`
 */
export function parseFingerprint(text: string): string | undefined {
  const body = text.replace(/\s+/g, '').replace(/^sha-?256[:-]/i, '')
  if (/^[0-9a-f]{64}$/i.test(body)) return body.toLowerCase()
  if (!/^[\w+/-]{43}=?$/.test(body)) return undefined
  try {
    const urlSafe = body.replace('=', '').replaceAll('+', '-').replaceAll('/', '_')
    return toHex(fromBase64Url(urlSafe))
  } catch {
    return undefined // bits beyond the 32 bytes: a damaged copy
  }
}
