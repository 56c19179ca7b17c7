import { createRouter } from '@nanostores/router'

/** The pages there are. Links are left to ClientRouter, which would not notice this router's own. */
const $route = createRouter(
  {
    home: [/^\/(en|fr)?$/, localeOf],
    verify: page('verify'),
    deposit: page('deposit'),
    history: page('history'),
    me: page('me'),
    signIn: page('sign-in'),
    signUp: page('sign-up'),
    disabled: page('disabled'),
    verifyAccount: page('verify-account'),
    activateAccount: page('activate-account'),
    resetPassword: page('reset-password'),
    confirmEmail: page('confirm-email'),
    docs: page('docs(?:/calls|/errors)?')
  },
  { links: false }
)

const returnable: string[] = ['home', 'verify', 'deposit', 'history', 'me', 'docs']

/** Whether a sign-in may lead to this path: a page there is, and not one that signs in itself. */
export function isReturnable(path: string): boolean {
  const clean = path.replace(/(?<=.)\/$/, '')
  return $route.routes.some(([name, pattern]) => returnable.includes(name) && pattern.test(clean))
}

/** `'verify'` → the pattern of `/verify`, `/en/verify` and `/fr/verify` */
function page(name: string): [RegExp, typeof localeOf] {
  return [new RegExp(`^(?:/(en|fr))?/${name}$`), localeOf]
}

function localeOf(locale = ''): { locale: string } {
  return { locale }
}
