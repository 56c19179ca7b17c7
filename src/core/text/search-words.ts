/** Letters that have no accent which could be taken off, and signs that word processors replace. */
const plain: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ς: 'σ',
  '’': "'",
  '‘': "'",
  ʼ: "'",
  '‐': '-',
  '‒': '-',
  '–': '-',
  '—': '-'
}

/**
 * Returns a text in lower case and without accents, as names are searched and sorted: `'Cœur
 * d’Été.PDF'` → `"coeur d'ete.pdf"`. The database function `fold_text` does the same.
 */
export function foldText(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[ßæœþøłđðħŧıς’‘ʼ‐‒–—]/g, letter => plain[letter] ?? letter)
}

/**
 * Splits the text of a search into words in lower case and without accents: `'Bail  été'` →
 * `['bail', 'ete']`
 */
export function splitSearchIntoWords(text: string): string[] {
  return foldText(text).split(/\s+/).filter(Boolean)
}
