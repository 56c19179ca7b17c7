import { toUtf8 } from '../bytes.ts'
import type { Fault } from './validators.ts'

const maxPasswordBytes = 1024
const minPasswordCharacters = 12
// NFKC turns at most two code units into one byte (U+1D400 into `A`); four leave a margin
const maxTypedLength = 4 * maxPasswordBytes

/**
 * Returns NFKC, so that é is the same typed as one character or two, or undefined for more than
 * 1,024 bytes or a lone surrogate.
 */
export function normalizePassword(password: string): string | undefined {
  if (password.length > maxTypedLength || !password.isWellFormed()) return undefined
  const normalized = password.normalize('NFKC')
  return toUtf8(normalized).length <= maxPasswordBytes ? normalized : undefined
}

/** Sign-in does not check the minimum length, so shorter passwords from before keep working. */
export function newPasswordFault(password: string): Fault | undefined {
  // a later Unicode may normalize unassigned characters differently, which would give another key
  if (!password.isWellFormed() || /[\p{Cc}\p{Cn}]/u.test(password)) return { rule: 'format' }
  const normalized = normalizePassword(password)
  if (normalized === undefined) return { rule: 'max_bytes', limit: maxPasswordBytes }
  // both lengths are checked: NFKC composes e + accent into one character and expands U+FDFA into
  // eighteen
  // blanks count, so this is not the validator of optional fields, which accepts an empty value
  if (Math.min([...password].length, [...normalized].length) < minPasswordCharacters)
    return { rule: 'min', limit: minPasswordCharacters }
  return undefined
}

// from very easy to very hard to guess
export type PasswordStrength = 0 | 1 | 2 | 3 | 4

export const minPasswordStrength: PasswordStrength = 3

interface PasswordContext {
  email: string
  username: string
  company: string
  host: string
}

/**
 * Returns what an attacker would try first, in lower case: `'ada.king@example.com'` →
 * `['ada.king@example.com', 'ada', 'king', 'example', …]`
 */
export function guessableWords(around: PasswordContext): string[] {
  const texts = Object.values(around).map(text => text.normalize('NFKC').toLowerCase())
  const parts = texts.flatMap(text => [text, ...text.split(/[^\p{L}\p{M}\p{N}]+/u)])
  return [...new Set(parts)].filter(part => part.length > 2)
}
