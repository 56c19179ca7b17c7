import { readdirSync, readFileSync } from 'node:fs'
import { type Locale, type T, translator, type Words } from '../../src/i18n/index.ts'

/** Returns the function that translates all words of the product: `t('account.signIn.submit')`. */
export function wordsIn(locale: Locale): T {
  const folder = `src/i18n/${locale}`
  const words = readdirSync(folder).map(file => [
    file.replace('.json', ''),
    JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Words // as: our own catalogue
  ])
  return translator(locale, Object.fromEntries(words))
}
