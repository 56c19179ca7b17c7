import { createRouter } from '@nanostores/router'

/** All pages. Astro's ClientRouter follows links, so this router does not. */
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

/**
 * Returns whether `redirect` may lead to this path after signing in: the path of an existing page
 * that is not itself for signing in.
 */
export function isReturnable(path: string): boolean {
  const clean = path.replace(/(?<=.)\/$/, '')
  return $route.routes.some(([name, pattern]) => returnable.includes(name) && pattern.test(clean))
}

/** Returns the pattern of a page's paths: `'verify'` → `/verify`, `/en/verify` and `/fr/verify` */
function page(name: string): [RegExp, typeof localeOf] {
  return [new RegExp(`^(?:/(en|fr))?/${name}$`), localeOf]
}

function localeOf(locale = ''): { locale: string } {
  return { locale }
}
