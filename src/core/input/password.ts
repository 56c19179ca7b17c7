import { toUtf8 } from '../bytes.ts'

const maxPasswordBytes = 1024
const minPasswordCharacters = 12
/** Code units that are normalised: NFKC makes at least one byte of two, U+1D400 being `A`. */
const maxTypedLength = 4 * maxPasswordBytes

/**
 * NFKC, so that é typed as one or as two characters is one password; never trimmed or case-folded.
 * `undefined` for a lone surrogate, which UTF-8 would make equal to others, and for over 1,024 bytes.
 */
export function normalisePassword(password: string): string | undefined {
  if (password.length > maxTypedLength || !password.isWellFormed()) return undefined
  const normalised = password.normalize('NFKC')
  return toUtf8(normalised).length <= maxPasswordBytes ? normalised : undefined
}

export interface PasswordFault {
  rule: 'min' | 'max_bytes' | 'format'
  limit?: number
}

/**
 * What keeps a password from being chosen. Never asked at sign-in, so that a change here locks nobody
 * out. `'short'` → `{ rule: 'min', limit: 12 }`
 */
export function newPasswordFault(password: string): PasswordFault | undefined {
  // unassigned characters may normalise differently in a later Unicode: another key
  if (!password.isWellFormed() || /[\p{Cc}\p{Cn}]/u.test(password)) return { rule: 'format' }
  const normalised = normalisePassword(password)
  if (normalised === undefined) return { rule: 'max_bytes', limit: maxPasswordBytes }
  // both counts: NFKC folds e + accent into one, and unfolds the single U+FDFA into eighteen
  if (Math.min([...password].length, [...normalised].length) < minPasswordCharacters)
    return { rule: 'min', limit: minPasswordCharacters }
  return undefined
}

/** How hard a password is to guess: 0 falls to the first guesses, 4 to none. */
export type Strength = 0 | 1 | 2 | 3 | 4

/** What a chosen password needs at least. */
export const minStrength: Strength = 3

interface Surroundings {
  email: string
  username: string
  company: string
  host: string
}

/**
 * What a guesser of this person's password tries first. `'ada.king@example.com'` →
 * `['ada.king@example.com', 'ada', 'king', 'example', …]`
 */
export function guessableWords(around: Surroundings): string[] {
  const texts = Object.values(around).map(text => text.normalize('NFKC').toLowerCase())
  const parts = texts.flatMap(text => [text, ...text.split(/[^\p{L}\p{M}\p{N}]+/u)])
  return [...new Set(parts)].filter(part => part.length > 2)
}
