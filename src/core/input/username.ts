import { hasDirectionControls, hasVisibleCharacter } from '../text/visible-text.ts'
import { type Fault, matches, maxLength, required } from './validators.ts'

export const maxUsernameLength = 80

const isShortEnough = maxLength(maxUsernameLength)
const hasNoControls = matches(/^\P{Cc}*$/u, 'regex')

/** Gives the same result as the schema `Username`, for pages that do not load zod. */
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
