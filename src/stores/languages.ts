import type { Locale, Words } from '../i18n/index.ts'
import { environment } from './environment.ts'
import { rememberLanguage } from './language-cookie.ts'

interface LanguageChange {
  /** The address of this page in the new language, with query and hash. */
  address: string
  words: Words
  /** False if the language could be saved in this browser only, not in the account. */
  isSaved: boolean
}

/**
 * Saves the language in this browser and, with `save`, in the account. Throws when its words cannot be
 * loaded. Nothing has changed then, and the page stays with its uploads.
 */
export async function changeLanguage(
  locale: Locale,
  { buildId, save }: { buildId: string; save: (locale: Locale) => Promise<void> }
): Promise<LanguageChange> {
  const words = await loadMessages(locale, buildId)
  const address = rememberLanguage(locale)
  const isSaved = await save(locale).then(
    () => true,
    () => false
  )
  return { address, words, isSaved }
}

/**
 * Loads all words of a language, of which a page has only a part. The browser caches the answer for
 * 24 hours, as its headers say.
 */
async function loadMessages(locale: Locale, buildId: string): Promise<Words> {
  const { place, fetch } = environment()
  const { protocol, host } = place()
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
