import en from '../../i18n/en/keys.json'
import fr from '../../i18n/fr/keys.json'
import { type Locale, type Translate, translator, type Words } from '../../i18n/index.ts'
import type { KeyIn } from '../../i18n/keys.ts'

const catalogues: Record<Locale, Words> = { en, fr }

/**
 * Returns the function that translates the words about API keys. They are part of the script, which
 * few people load, and not of the HTML of the pages.
 */
export function apiKeyTranslator(locale: Locale): Translate<KeyIn<'keys'>> {
  return translator(locale, catalogues[locale])
}
