import type { Locale, Words } from '../i18n/index.ts'
import { environment } from './environment.ts'
import { rememberLanguage } from './language-cookie.ts'

interface LanguageChange {
  /** The address of this page in the new language, query and hash kept. */
  address: string
  words: Words
  /** `false`: it holds in this browser, and the person's account could not be told. */
  isSaved: boolean
}

/**
 * Remembers the language, for a signed-in person on the server too. Fails where its words cannot be
 * loaded: nothing has changed then, and a page that would not have come does not end any uploads.
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
 * All words of a language, which pages themselves hold only in part. Asked for when needed; the
 * browser keeps the answer for 24 hours, as its headers say.
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
    // biome-ignore lint/suspicious/noConsole: what is specified for those who look into a page
    console.warn(`Failed to load messages for locale ${locale}`)
    throw new Error(`Failed loading locale (${locale})`, { cause })
  }
}
