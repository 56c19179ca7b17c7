import { hasDirectionControls, isVisible } from '../text/visible-text.ts'

/** Characters, after the blanks at both ends are gone. */
export const maxUsernameCharacters = 80

export interface UsernameFault {
  rule: 'required' | 'max' | 'regex' | 'format' | 'direction' | 'invisible'
  limit?: number
}

/** What the contract's `Username` would say, without the parser it needs. `'  '` → `{ rule: 'required' }` */
export function usernameFault(typed: string): UsernameFault | undefined {
  const name = typed.trim()
  if (name === '') return { rule: 'required' }
  if (name.length > maxUsernameCharacters) return { rule: 'max', limit: maxUsernameCharacters }
  if (!name.isWellFormed()) return { rule: 'format' }
  const normalised = name.normalize('NFC')
  if (normalised.length > maxUsernameCharacters)
    return { rule: 'max', limit: maxUsernameCharacters }
  if (/\p{Cc}/u.test(normalised)) return { rule: 'regex' }
  if (hasDirectionControls(normalised)) return { rule: 'direction' }
  return isVisible(normalised) ? undefined : { rule: 'invisible' }
}
