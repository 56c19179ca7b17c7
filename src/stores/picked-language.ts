import { isLocale, type Locale } from '../i18n/index.ts'
import { browserEnvironment } from './environment.ts'

/**
 * Storage key of a language that the person picked in this browser and that is not saved in an
 * account yet. `boot.js` also reads it.
 */
const pickedKey = 'vidimus:language'

/** Returns the language that was picked in this browser and is not saved in an account yet. */
export function pickedLanguage(): Locale | undefined {
  const picked = browserEnvironment().readStored(pickedKey)
  return isLocale(picked) ? picked : undefined
}

/** Stores the language that the person has picked, until it is saved in an account. */
export function storePickedLanguage(locale: Locale): void {
  browserEnvironment().store(pickedKey, locale)
}

/** Deletes the picked language, because an account has it now. A later pick stays. */
export function forgetPickedLanguage(saved: Locale): void {
  if (pickedLanguage() === saved) browserEnvironment().store(pickedKey, undefined)
}
