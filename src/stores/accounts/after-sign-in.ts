import { parseRedirectParameter } from '../../core/pages/redirect-parameter.ts'
import { localizedPath } from '../../i18n/index.ts'
import { browserEnvironment, pageLocale } from '../environment.ts'
import { canReturnAfterSignIn } from '../routes.ts'
import { $user, localeOfPerson } from '../signed-in-user.ts'

/**
 * The page in the parameter `redirect`, else the home page. People whose e-mail is not confirmed
 * first get `/verify-account`.
 */
export function addressAfterSignIn(): string {
  const { protocol, host, search } = browserEnvironment().pageLocation()
  const origin = `${protocol}//${host}`
  const redirect = new URLSearchParams(search).get('redirect') ?? ''
  if ($user.get()?.pending) {
    const waiting = new URL(localizedPath(pageLocale(), '/verify-account'), origin)
    if (redirect) waiting.searchParams.set('redirect', redirect)
    return waiting.href
  }
  const url = new URL(parseRedirectParameter(redirect, origin, canReturnAfterSignIn) ?? '/', origin)
  url.pathname = localizedPath(localeOfPerson() ?? pageLocale(), url.pathname)
  return url.href
}
