import { type Locale, localizedPath, type Words } from '../i18n/index.ts'
import { environment } from './environment.ts'
import { loadMessages } from './messages.ts'

const cookieName = 'i18n_redirected'
const cookieSeconds = 365 * 86_400

/** Remembers the language in this browser, and answers the address of this page in it. */
export function rememberLanguage(locale: Locale): string {
  const { place, writeCookie } = environment()
  writeCookie(`${cookieName}=${locale}; Max-Age=${cookieSeconds}; Path=/; Secure; SameSite=Lax`)
  const { pathname, search, hash } = place()
  return `${localizedPath(locale, pathname)}${search}${hash}`
}

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
