import { type Locale, localizedPath } from '../i18n/index.ts'
import { environment } from './environment.ts'

const cookieName = 'i18n_redirected'
const cookieSeconds = 365 * 86_400

/** Saves the language in this browser. Returns the address of this page in it. */
export function rememberLanguage(locale: Locale): string {
  const { place, writeCookie } = environment()
  writeCookie(`${cookieName}=${locale}; Max-Age=${cookieSeconds}; Path=/; Secure; SameSite=Lax`)
  const { pathname, search, hash } = place()
  return `${localizedPath(locale, pathname)}${search}${hash}`
}
