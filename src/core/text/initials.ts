/**
 * Returns the first letter of each word of a name: `Ada Lovelace` → `AL`. Leaves out words of
 * punctuation: `Ada — Library` → `AL`
 */
export function initials(username: string): string {
  return username
    .normalize('NFC')
    .split(/\s+/)
    .filter(word => /[^\p{P}\p{Sm}\p{Sc}\p{Sk}]/u.test(word))
    .map(word => /\p{L}\p{M}*/u.exec(word)?.[0] ?? Array.from(word)[0] ?? '')
    .join('')
}

/** Cuts initials to the first three letters, which fit in an avatar. */
export function shortInitials(initials: string): string {
  const letters = [...new Intl.Segmenter().segment(initials)]
  return letters
    .slice(0, 3)
    .map(({ segment }) => segment)
    .join('')
}
