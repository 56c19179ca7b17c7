import { toUtf8 } from '../bytes.ts'
import type { Fault } from './validators.ts'

const maxPasswordBytes = 1024
const minPasswordCharacters = 12
/**
 * The maximum length of a password before it is normalized, in UTF-16 code units. A longer password
 * can be refused without normalizing it. NFKC turns at most two code units into one byte (U+1D400
 * into `A`), so the result would have far more than `maxPasswordBytes` bytes. Two code units per
 * byte would be enough; four leave a margin.
 */
const maxTypedLength = 4 * maxPasswordBytes

/**
 * Normalizes a password to NFKC, so that é is the same whether it is typed as one character or as
 * two. Keeps blanks and capital letters. Returns undefined for more than 1,024 bytes, and for a
 * lone surrogate, which UTF-8 cannot represent.
 */
export function normalizePassword(password: string): string | undefined {
  if (password.length > maxTypedLength || !password.isWellFormed()) return undefined
  const normalized = password.normalize('NFKC')
  return toUtf8(normalized).length <= maxPasswordBytes ? normalized : undefined
}

/**
 * Returns the first rule that a new password breaks, or undefined if it breaks none. Sign-in does
 * not check the minimum length, so existing shorter passwords keep working.
 * `'short'` → `{ rule: 'min', limit: 12 }`
 */
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

/** How hard a password is to guess, from 0 (very easy) to 4 (very hard). */
export type PasswordStrength = 0 | 1 | 2 | 3 | 4

/** The minimum strength of a new password. */
export const minPasswordStrength: PasswordStrength = 3

interface PasswordContext {
  email: string
  username: string
  company: string
  host: string
}

/**
 * Returns the words that an attacker would try first to guess a person's password, in lower case:
 * e-mail, name, company, host and their parts. `'ada.king@example.com'` → `['ada.king@example.com',
 * 'ada', 'king', 'example', …]`
 */
export function guessableWords(around: PasswordContext): string[] {
  const texts = Object.values(around).map(text => text.normalize('NFKC').toLowerCase())
  const parts = texts.flatMap(text => [text, ...text.split(/[^\p{L}\p{M}\p{N}]+/u)])
  return [...new Set(parts)].filter(part => part.length > 2)
}
