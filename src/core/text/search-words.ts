/** Returns a text in lower case and without accents, for searches. `'Été.PDF'` → `'ete.pdf'` */
export function foldText(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
}

/** Returns the words of a search, which may occur in any order. `'Bail  été'` → `['bail', 'ete']` */
export function searchWords(text: string): string[] {
  return foldText(text).split(/\s+/).filter(Boolean)
}
