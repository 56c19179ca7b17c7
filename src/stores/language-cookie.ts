import { type Locale, localizedPath } from '../i18n/index.ts'
import { browserEnvironment } from './environment.ts'

const cookieName = 'i18n_redirected'
const cookieSeconds = 365 * 86_400

export function saveLanguageCookie(locale: Locale): void {
  const { readCookie, writeCookie } = browserEnvironment()
  if (readCookie(cookieName) === locale) return
  writeCookie(`${cookieName}=${locale}; Max-Age=${cookieSeconds}; Path=/; Secure; SameSite=Lax`)
}

export function addressOfThisPageIn(locale: Locale): string {
  const { pageLocation } = browserEnvironment()
  const { pathname, search, hash } = pageLocation()
  return `${localizedPath(locale, pathname)}${search}${hash}`
}
