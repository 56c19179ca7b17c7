// letters without an accent to take off, and signs that word processors replace
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

/** The database function `fold_text` does the same: `'Cœur d’Été.PDF'` → `"coeur d'ete.pdf"` */
export function foldText(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[ßæœþøłđðħŧıς’‘ʼ‐‒–—]/g, letter => plain[letter] ?? letter)
}

/** `'Bail été'` → `['bail', 'ete']` */
export function splitSearchIntoWords(text: string): string[] {
  return foldText(text).split(/\s+/).filter(Boolean)
}
