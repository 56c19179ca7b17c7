import { type Locale, localizedPath } from '../i18n/index.ts'
import { browserEnvironment } from './environment.ts'

const cookieName = 'i18n_redirected'
const cookieSeconds = 365 * 86_400

/** Saves the language in a cookie. Returns the address of this page in that language. */
export function saveLanguageCookie(locale: Locale): string {
  const { pageLocation, writeCookie } = browserEnvironment()
  writeCookie(`${cookieName}=${locale}; Max-Age=${cookieSeconds}; Path=/; Secure; SameSite=Lax`)
  const { pathname, search, hash } = pageLocation()
  return `${localizedPath(locale, pathname)}${search}${hash}`
}
