import { isLocale, type Locale } from '../i18n/index.ts'
import { browserEnvironment } from './environment.ts'

// of a language that is not saved in an account yet; `boot.js` also reads it
const pickedKey = 'vidimus:language'

export function pickedLanguage(): Locale | undefined {
  const picked = browserEnvironment().readStored(pickedKey)
  return isLocale(picked) ? picked : undefined
}

export function storePickedLanguage(locale: Locale): void {
  browserEnvironment().store(pickedKey, locale)
}

// a later pick stays
export function forgetPickedLanguage(saved: Locale): void {
  if (pickedLanguage() === saved) browserEnvironment().store(pickedKey, undefined)
}
