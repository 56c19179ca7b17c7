import type { MessageKey } from './keys.ts'

export const locales = ['en', 'fr'] as const
export type Locale = (typeof locales)[number]
export const defaultLocale: Locale = 'en'

export const localeNames: Record<Locale, string> = { en: 'English', fr: 'Français' }

export interface Messages {
  [key: string]: string | Messages
}

/** Returns the text `t('setup.left', { count: 2 })`, or the key itself if there is none. */
export type Translate<Key extends string = MessageKey> = (
  key: Key,
  values?: Record<string, string | number>
) => string

const tags: Record<Locale, string> = { en: 'en-US', fr: 'fr-FR' }

export function languageTag(locale: Locale): string {
  return tags[locale]
}

export function isLocale(text: unknown): text is Locale {
  return locales.some(locale => locale === text)
}

/** Puts or replaces the locale: `fr`, `/en/verify` → `/fr/verify` */
export function localizedPath(locale: Locale, path: string): string {
  const [, first = '', ...rest] = path.split('/')
  const kept = isLocale(first) ? rest : [first, ...rest]
  return ['', locale, ...kept.filter(Boolean)].join('/')
}

/** Understands the syntax of i18next: `{{name}}` and `count` with `key_one` and `key_other`. */
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
