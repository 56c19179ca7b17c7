import en from '../../i18n/en/keys.json'
import fr from '../../i18n/fr/keys.json'
import { type Locale, type Messages, type Translate, translator } from '../../i18n/index.ts'
import type { NamespaceKey } from '../../i18n/keys.ts'

const catalogues: Record<Locale, Messages> = { en, fr }

// the texts are part of the script and not of the HTML, because few people see them
export function apiKeyTranslator(locale: Locale): Translate<NamespaceKey<'keys'>> {
  return translator(locale, catalogues[locale])
}
