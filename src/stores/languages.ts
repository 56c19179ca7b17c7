import type { Locale, Messages } from '../i18n/index.ts'
import { browserEnvironment } from './environment.ts'
import { addressOfThisPageIn, saveLanguageCookie } from './language-cookie.ts'
import { storePickedLanguage } from './picked-language.ts'

interface LanguageChange {
  address: string
  words: Messages
  /** If false, only this browser saved the language. */
  isSaved: boolean
}

/**
 * Saves the language in this browser and, with `save`, in the account. If its words cannot be
 * loaded, throws an error and saves nothing.
 */
export async function changeLanguage(
  locale: Locale,
  { buildId, save }: { buildId: string; save: (locale: Locale) => Promise<void> }
): Promise<LanguageChange> {
  const words = await loadMessages(locale, buildId)
  saveLanguageCookie(locale)
  storePickedLanguage(locale)
  const isSaved = await save(locale).then(
    () => true,
    () => false
  )
  return { address: addressOfThisPageIn(locale), words, isSaved }
}

// a page contains only the words it needs; the browser caches the response for 24 hours
async function loadMessages(locale: Locale, buildId: string): Promise<Messages> {
  const { pageLocation, fetch } = browserEnvironment()
  const { protocol, host } = pageLocation()
  try {
    const url = `${protocol}//${host}/_i18n/${buildId}/${locale}/messages.json`
    const response = await fetch(url)
    if (!response.ok) throw new Error(`The messages answered ${response.status}`)
    return await response.json()
  } catch (cause) {
    // biome-ignore lint/suspicious/noConsole: the specification asks for this warning
    console.warn(`Failed to load messages for locale ${locale}`)
    throw new Error(`Failed loading locale (${locale})`, { cause })
  }
}
