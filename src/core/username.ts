/** Characters, after the blanks at both ends are gone. */
export const maxUsernameCharacters = 80

export interface UsernameFault {
  rule: 'required' | 'max' | 'regex' | 'format'
  limit?: number
}

/** What the contract's `Username` would say, without the parser it needs. `'  '` → `{ rule: 'required' }` */
export function usernameFault(typed: string): UsernameFault | undefined {
  const name = typed.trim()
  if (name === '') return { rule: 'required' }
  if (name.length > maxUsernameCharacters) return { rule: 'max', limit: maxUsernameCharacters }
  if (/\p{Cc}/u.test(name)) return { rule: 'regex' }
  return name.isWellFormed() ? undefined : { rule: 'format' }
}
