import type { APIContext, MiddlewareHandler, MiddlewareNext } from 'astro'
import { getDomainConfig } from './contract/domains.ts'
import { call } from './contract/kit/call.ts'
import { pageCsp, reportingEndpointsHeader } from './core/http-headers/csp.ts'
import { pageOfAstroRoute } from './core/pages/page-table.ts'
import { themeCss } from './core/theme/theme-colors.ts'
import { defaultLocale, isLocale } from './i18n/index.ts'
// oxlint-disable-next-line boundaries/dependencies -- a text, which the rule cannot find
import boot from './shell/boot.js?raw'

/** Depends on host, route and locale only, because `server/site/site.ts` caches the result. */
export const onRequest: MiddlewareHandler = async (context, next) => {
  try {
    return await render(context, next)
  } catch (cause) {
    context.locals.failPage(cause)
    return new Response(null, { status: 500 })
  }
}

async function render({ request, url, locals, routePattern }: APIContext, next: MiddlewareNext) {
  // No page may depend on who is signed in, and no log of a page may contain the token.
  request.headers.delete('cookie')
  const config = await call(
    getDomainConfig,
    { domain: locals.host },
    { base: locals.apiOrigin, fetch: locals.api }
  )
  // nobody can sign up while the company is suspended
  locals.tenant = config.paused ? { ...config, public: false } : config
  locals.page = pageOfAstroRoute(routePattern)
  const first = url.pathname.split('/')[1]
  locals.locale = isLocale(first) ? first : defaultLocale
  locals.themeCss = themeCss(locals.tenant.theme.colors)
  locals.boot = boot

  const response = await next()
  const body = lowerScriptPriority(await response.text())
  const headers = new Headers(response.headers)
  const astroPolicy = headers.get('content-security-policy')
  if (astroPolicy) {
    const themeHash = await hashSource(locals.themeCss)
    const bootHash = await hashSource(boot)
    const policy = pageCsp({ astroPolicy, bootHash, themeHash, api: locals.apiOrigin })
    headers.set('content-security-policy', policy)
    headers.set('reporting-endpoints', reportingEndpointsHeader(locals.apiOrigin))
  }
  locals.keepPage({ status: response.status, headers: Object.fromEntries(headers), body })
  return new Response(body, { status: response.status, headers })
}

// Styles first: module scripts run after parsing anyway. In the HTML, because Astro writes the
// elements.
function lowerScriptPriority(page: string): string {
  const script = '<script type="module"'
  return page.replaceAll(`${script} src=`, `${script} fetchpriority="low" src=`)
}

async function hashSource(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}
