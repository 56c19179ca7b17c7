import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { textsOf } from '../../scripts/texts.ts'
import { errorCodes } from '../../src/contract/kit/errors.ts'
import { localizedPath, type Messages, translator } from '../../src/i18n/index.ts'

const en = textsOf('en')
const fr = textsOf('fr')
const english = sentences(en)
const french = sentences(fr)

test('says everything in both languages', () => {
  const files = (locale: string) => readdirSync(`src/i18n/${locale}`, { recursive: true }).sort()
  expect(files('fr')).toEqual(files('en'))
  expect([...french.keys()].sort()).toEqual([...english.keys()].sort())
})

test('the set-up promises no number of sample documents', () => {
  for (const words of [english, french]) {
    expect(words.get('setup.demoText')).not.toMatch(/\d|\b(?:thirty|forty|trente|quarante)\b/i)
  }
})

test('leaves the same gaps to fill in both languages', () => {
  const gaps = (text: string) => new Set(text.match(/\{\{\w+\}\}/g))
  for (const [key, text] of english) {
    const other = french.get(key) ?? ''
    // "1 request left" may do without the number.
    if (!key.endsWith('_one')) expect(gaps(other), key).toEqual(gaps(text))
  }
})

test('has a sentence for every error code, and for every rule of a field', () => {
  // the last three are what zod calls a format
  const rules = new Set([...rulesInSources(), 'uuid', 'datetime', 'regex'])
  expect([...rules]).toEqual(expect.arrayContaining(['required', 'json', 'same_as', 'excluded']))
  for (const words of [en, fr]) {
    const t = translator('en', words)
    for (const code of Object.keys(errorCodes)) {
      expect(t(`errors.${code}`)).not.toBe(`errors.${code}`)
    }
    for (const rule of rules) {
      expect(t(`fields.${rule}`)).not.toBe(`fields.${rule}`)
    }
  }
})

test('has both plurals where it has one', () => {
  for (const key of english.keys()) {
    if (key.endsWith('_one')) expect([...english.keys()]).toContain(key.replace(/one$/, 'other'))
  }
})

test('names a button of a row with the words that it shows', () => {
  for (const words of [english, french]) {
    for (const [key, name] of words) {
      const shown = key.endsWith('Named') && words.get(key.replace(/Named$/, ''))
      if (shown) expect(name, key).toContain(shown.replace(/…$/, ''))
    }
  }
})

test('writes French with its own signs and spaces', () => {
  for (const [key, text] of french) {
    expect(text, `${key}: apostrophe`).not.toMatch(/'/)
    expect(text, `${key}: quotation marks`).not.toMatch(/["“”]/)
    expect(text, `${key}: U+202F before ; ! ?`).not.toMatch(/(?<!\u202f)[;!?]/)
    expect(text, `${key}: U+00A0 before :`).not.toMatch(/(?<!\u00a0):(?!\/\/)/)
    expect(text, `${key}: U+00A0 inside « »`).not.toMatch(/«(?!\u00a0)|(?<!\u00a0)»/)
    expect(text, `${key}: a space before %`).not.toMatch(/[^\s\u202f\u00a0]%/)
    expect(text, `${key}: numbers and their units stay together`).not.toMatch(
      /\d (?:\d{3}|[KMGT]o)/
    )
  }
})

test('never puts a name where French would elide the word before it', () => {
  for (const [key, text] of french) {
    const elided =
      /\b(?:de|que|le|la|se|ne)\s\{\{(?:api|browser|company|email|host|names?|query)\}\}/i
    expect(text, key).not.toMatch(elided)
  }
})

test('counts in French only where the word follows the number', () => {
  for (const [key, text] of french) {
    // « 1 requêtes sur 50 », « 0 o conservés »: only `count` chooses between singular and plural
    expect(text, key).not.toMatch(
      /\{\{(?:done|ended|failed|found|hashed|listed|missing|size|total|used)\}\}\s(?!(?:sans|hors)\b)\p{L}+s(?!\p{L})/u
    )
  }
})

test('addresses in French women and men alike', () => {
  for (const [key, text] of french) {
    expect(text, key).not.toMatch(/\b(?:êtes|rester|restez) (?:dé)?(?:connecté|inscrit|invité)/i)
  }
})

test('has one French name for an address and one for what is sent to it', () => {
  for (const [key, text] of french) {
    expect(text, `${key}: U+2011 in « e\u2011mail »`).not.toMatch(/e-mail/i)
    expect(text, `${key}: « adresse e\u2011mail »`).not.toMatch(/(?<!adresse |par )e\u2011mail/i)
    expect(text, `${key}: « message »`).not.toMatch(/courriel|(?<!e\u2011)\bmails?\b/i)
    expect(text, `${key}: « requête »`).not.toMatch(/\b(?:la|une|même|autre) demande\b/i)
  }
})

test('leaves no English in French', () => {
  for (const [key, text] of french) {
    // « Menu », « OpenAPI 3.1 » are both
    if (text === english.get(key)) expect(text, key).not.toMatch(/[a-z]+\s[a-z]+/)
    expect(text.replace(/`[^`]*`|\{\{\w+\}\}/g, ''), key).not.toMatch(
      /(?<!\p{L})(?:the|and|your|with|upload|password|account|sign)(?!\p{L})/iu
    )
  }
})

test('writes English with curly signs', () => {
  for (const [key, text] of english) expect(text, key).not.toMatch(/['"]/)
})

test('never shouts, in neither language, and never blames', () => {
  for (const [key, text] of [...english, ...french]) {
    expect(text, key).not.toMatch(/!|\boops\b|\bsorry\b|désolé/i)
    expect(text.trim(), key).toBe(text)
    expect(text, key).not.toBe('')
  }
})

test('holds nothing that the catalogue loader cannot quote', () => {
  // astro-i18next writes the catalogues into a script without escaping them.
  for (const [key, text] of [...english, ...french]) {
    expect(text, key).not.toMatch(/["\\\n\u2028\u2029]/)
  }
})

test('never asks i18next for its one language a process', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  for (const path of sources.filter(path => /\.(?:ts|tsx|astro)$/.test(path))) {
    const text = readFileSync(`src/${path}`, 'utf8')
    expect(text, path).not.toMatch(/i18next\.(?:t\(|changeLanguage|language\b)/)
    if (/from 'i18next'/.test(text)) expect(path).toBe('i18n/pages.ts')
  }
})

test('fills gaps, chooses plurals and writes numbers the way of the locale', () => {
  const words = { a: { left_one: '{{count}} left', left_other: '{{count}} left ({{who}})' } }
  expect(translator('en', words)('a.left', { count: 1 })).toBe('1 left')
  expect(translator('en', words)('a.left', { count: 1200, who: 'x' })).toBe('1,200 left (x)')
  expect(translator('fr', words)('a.left', { count: 0 })).toBe('0 left')
  expect(translator('fr', words)('a.left', { count: 1200, who: 'x' })).toBe('1\u202f200 left (x)')
  expect(translator('en', words)('a.none')).toBe('a.none')
  expect(translator('en', words)('toString')).toBe('toString')
})

test.each([
  ['en', '/verify', '/en/verify'],
  ['fr', '/en/verify', '/fr/verify'],
  ['fr', '/', '/fr'],
  ['fr', '/en', '/fr'],
  ['fr', '/fr/a/b/', '/fr/a/b'],
  ['en', '/english', '/en/english']
] as const)('puts %s before %s', (locale, path, localized) => {
  expect(localizedPath(locale, path)).toBe(localized)
})

/** Returns the names of all rules that the sources use for refused fields. */
function rulesInSources(): string[] {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' })
  return paths
    .filter(path => /\.tsx?$/.test(path))
    .flatMap(path => {
      const text = readFileSync(`src/${path}`, 'utf8')
      // `rule: 'min'`, `rule: isSame ? 'a' : 'b'`, `rule: 'a' | 'b'`
      const given = text.matchAll(/\brule: ([^,{}\n]+)/g)
      const built = path === 'core/input/validators.ts' ? text.matchAll(/,\s+('[a-z_]+')[,)]/g) : []
      return [...given, ...built].flatMap(
        ([, names = '']) => names.match(/(?<=(?<!\[)')[a-z_]+(?=')/g) ?? []
      )
    })
}

/** Returns the texts of a dictionary by their full keys: `{ a: { b: 'c' } }` → `a.b` ⇒ `c` */
function sentences(words: Messages, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(words).flatMap(([key, value]) =>
      typeof value === 'string'
        ? [[prefix + key, value] as const]
        : [...sentences(value, `${prefix}${key}.`)]
    )
  )
}
