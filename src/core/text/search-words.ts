/** Returns a text in lower case and without accents, for searches: `'Été.PDF'` → `'ete.pdf'` */
export function foldText(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
}

/**
 * Splits the text of a search into words in lower case and without accents: `'Bail  été'` →
 * `['bail', 'ete']`
 */
export function splitSearchIntoWords(text: string): string[] {
  return foldText(text).split(/\s+/).filter(Boolean)
}
