import { textsOf } from '../../scripts/texts.ts'
import { type Locale, type Translate, translator } from '../../src/i18n/index.ts'

/** Returns the function that translates all words of the product: `t('entrance.signIn.submit')`. */
export function translatorOfAllWords(locale: Locale): Translate {
  return translator(locale, textsOf(locale))
}
