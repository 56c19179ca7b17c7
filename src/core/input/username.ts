import { hasDirectionControls, hasVisibleCharacter } from '../text/visible-text.ts'

/** The maximum length of a username in UTF-16 code units. Blanks at both ends do not count. */
export const maxUsernameLength = 80

export interface UsernameFault {
  rule: 'required' | 'max' | 'regex' | 'format' | 'direction' | 'invisible'
  limit?: number
}

/**
 * Returns the rule that a username breaks, or undefined if it breaks none. Gives the same result as
 * the schema `Username` of the API contract. It exists for pages that do not load zod, the library
 * of that schema. `'  '` → `{ rule: 'required' }`
 */
export function usernameFault(typed: string): UsernameFault | undefined {
  const name = typed.trim()
  if (name === '') return { rule: 'required' }
  if (name.length > maxUsernameLength) return { rule: 'max', limit: maxUsernameLength }
  if (!name.isWellFormed()) return { rule: 'format' }
  const normalized = name.normalize('NFC')
  if (normalized.length > maxUsernameLength) return { rule: 'max', limit: maxUsernameLength }
  if (/\p{Cc}/u.test(normalized)) return { rule: 'regex' }
  if (hasDirectionControls(normalized)) return { rule: 'direction' }
  return hasVisibleCharacter(normalized) ? undefined : { rule: 'invisible' }
}
