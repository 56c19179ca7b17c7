import type { MessageKey } from './keys.ts'

/** The languages of the interface. */
export const locales = ['en', 'fr'] as const
export type Locale = (typeof locales)[number]
export const defaultLocale: Locale = 'en'

/** The name of each language in that language. */
export const localeNames: Record<Locale, string> = { en: 'English', fr: 'Français' }

/** The translated texts of a namespace by key, nested as in its JSON file. */
export interface Messages {
  [key: string]: string | Messages
}

/**
 * A function that returns the translated text for a key: `t('account.email')`,
 * `t('setup.left', { count: 2 })`. Returns the key itself if there is no text for it.
 */
export type Translate<Key extends string = MessageKey> = (
  key: Key,
  values?: Record<string, string | number>
) => string

const tags: Record<Locale, string> = { en: 'en-US', fr: 'fr-FR' }

/** Returns the language tag of a locale: `fr` → `fr-FR` */
export function languageTag(locale: Locale): string {
  return tags[locale]
}

export function isLocale(text: unknown): text is Locale {
  return locales.some(locale => locale === text)
}

/**
 * Returns a path with `locale` in front. If the path already has a locale, replaces it: `fr`,
 * `/en/verify` → `/fr/verify`
 */
export function localizedPath(locale: Locale, path: string): string {
  const [, first = '', ...rest] = path.split('/')
  const kept = isLocale(first) ? rest : [first, ...rest]
  return ['', locale, ...kept.filter(Boolean)].join('/')
}

/**
 * Returns a function that looks up the text for a key in `messages`. The texts have the syntax of
 * i18next: `{{name}}` stands for a value, and `count` chooses between `key_one` and `key_other`.
 * Numbers are formatted for the locale.
 */
export function translator(locale: Locale, messages: Messages): Translate<string> {
  const plurals = new Intl.PluralRules(languageTag(locale))
  const numbers = new Intl.NumberFormat(languageTag(locale))
  return (key, values = {}) => {
    const count = values['count']
    const plural =
      typeof count === 'number' ? find(messages, `${key}_${plurals.select(count)}`) : undefined
    const text = plural ?? find(messages, key) ?? find(messages, `${key}_other`)
    return (
      text?.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => {
        const value = values[name]
        if (value === undefined) return whole
        return typeof value === 'number' ? numbers.format(value) : value
      }) ?? key
    )
  }
}

function find(messages: Messages, key: string): string | undefined {
  let found: string | Messages | undefined = messages
  for (const part of key.split('.')) {
    if (typeof found !== 'object' || !Object.hasOwn(found, part)) return undefined
    found = found[part]
  }
  return typeof found === 'string' ? found : undefined
}
