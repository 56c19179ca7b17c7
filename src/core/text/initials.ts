/** `Ada Lovelace` → `AL`, `Ada — Library` → `AL` */
export function initials(username: string): string {
  return username
    .normalize('NFC')
    .split(/\s+/)
    .filter(word => /[^\p{P}\p{Sm}\p{Sc}\p{Sk}]/u.test(word))
    .map(word => /\p{L}\p{M}*/u.exec(word)?.[0] ?? Array.from(word)[0] ?? '')
    .join('')
}

// an avatar has room for three
export function shortInitials(initials: string): string {
  const letters = [...new Intl.Segmenter().segment(initials)]
  return letters
    .slice(0, 3)
    .map(({ segment }) => segment)
    .join('')
}
