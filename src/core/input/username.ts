import { hasDirectionControls, hasVisibleCharacter } from '../text/visible-text.ts'
import { type Fault, matches, maxLength, required } from './validators.ts'

/** The maximum length of a username in UTF-16 code units. Blanks at both ends do not count. */
export const maxUsernameLength = 80

const isShortEnough = maxLength(maxUsernameLength)
const hasNoControls = matches(/^\P{Cc}*$/u, 'regex')

/**
 * Returns the rule that a username breaks, or undefined if it breaks none. Gives the same result as
 * the schema `Username` of the API contract. It exists for pages that do not load zod, the library
 * of that schema. `'  '` → `{ rule: 'required' }`
 */
export function usernameFault(typed: string): Fault | undefined {
  const name = typed.trim()
  const fault = required(name) ?? isShortEnough(name)
  if (fault) return fault
  if (!name.isWellFormed()) return { rule: 'format' }
  const normalized = name.normalize('NFC')
  const normalizedFault = isShortEnough(normalized) ?? hasNoControls(normalized)
  if (normalizedFault) return normalizedFault
  if (hasDirectionControls(normalized)) return { rule: 'direction' }
  return hasVisibleCharacter(normalized) ? undefined : { rule: 'invisible' }
}
