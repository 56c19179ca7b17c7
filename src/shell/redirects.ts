import type { checkGuard } from '../core/pages/page-guards.ts'
import { parseRedirectParameter, withRedirect } from '../core/pages/redirect-parameter.ts'
import { localizedPath } from '../i18n/index.ts'
import { navigate } from '../stores/navigation.ts'
import { canReturnAfterSignIn } from '../stores/routes.ts'
import { pageLocale, shellTranslator } from './kit/page.ts'
import { showToast } from './kit/toasts.ts'

type Redirect = Exclude<ReturnType<typeof checkGuard>, 'stay'>

/** `answer` is the result of `checkGuard()`. `reason` is `ended` if the session has just ended. */
export async function redirectVisitor(
  answer: Redirect,
  reason: 'ended' | undefined
): Promise<void> {
  await navigate(addressFor(answer, reason), { replace: true })
  if (answer === 'leave') showToast(shellTranslator()('shell.notYours'))
}

function addressFor(answer: Redirect, reason: 'ended' | undefined): string {
  const { origin, pathname: path, search: query, hash } = location
  if (answer === 'sign-in') {
    // the sign-in page says the reason
    const target = localizedPath(pageLocale(), '/sign-in') + (reason ? `?reason=${reason}` : '')
    return withRedirect(target, { path, query, hash })
  }
  if (answer === 'confirm') {
    const target = localizedPath(pageLocale(), '/verify-account')
    return withRedirect(target, { path, query, hash })
  }
  const wanted = new URLSearchParams(query).get('redirect') ?? ''
  const found =
    answer === 'go-on' ? parseRedirectParameter(wanted, origin, canReturnAfterSignIn) : undefined
  return found ?? localizedPath(pageLocale(), '/')
}
