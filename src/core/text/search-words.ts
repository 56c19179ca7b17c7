/** A text as searches compare it: without case and accents. `'Été.PDF'` → `'ete.pdf'` */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
}

/** What a search asks for: each of its words, in any order. `'Bail  été'` → `['bail', 'ete']` */
export function searchWords(text: string): string[] {
  return fold(text).split(/\s+/).filter(Boolean)
}
