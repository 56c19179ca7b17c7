import type { APIContext, MiddlewareHandler, MiddlewareNext } from 'astro'
import { pageCsp, reportingEndpointsHeader } from './core/http-headers/csp.ts'
import type { GuardName } from './core/pages/page-guards.ts'
import { pageOfAstroRoute, pages } from './core/pages/page-table.ts'
import { themeCss } from './core/theme/theme-colors.ts'
import { defaultLocale, isLocale } from './i18n/index.ts'
// oxlint-disable-next-line boundaries/dependencies -- a text, which the rule cannot find
import bootSource from './shell/boot.js?raw'

/** What the shell loads as soon as it runs: on the home page, and for whom a page is. */
const homeSources = ['shell/drop/home-drop-zone.ts']
const memberSources = [
  'contract/kit/call.ts',
  'contract/calls.ts',
  'stores/signed-in-user.ts',
  'shell/drawer-usage.ts'
]
const adminSources = [...memberSources, 'contract/admin-calls.ts', 'shell/admin.ts']
const sourcesFor: Partial<Record<GuardName, string[]>> = {
  'signed-in': memberSources,
  admin: adminSources,
  operator: adminSources
}

const boot = bootSource.replace(/^ *\/\/.*\n/gm, '')

/** Depends on the owner, the host and the path only, because `site/site.ts` caches the result. */
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
  const { config } = locals
  // nobody can sign up while the company is suspended
  locals.tenant = config.paused ? { ...config, public: false } : config
  locals.page = pageOfAstroRoute(routePattern)
  const first = url.pathname.split('/')[1]
  locals.locale = isLocale(first) ? first : defaultLocale
  locals.themeCss = themeCss(locals.tenant.theme.colors)
  locals.boot = boot

  const response = await next()
  const body = listModules(lowerScriptPriority(await response.text()), locals)
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

/**
 * Replaces the sources that the page names by the scripts that `boot.js` preloads: first those of
 * the islands, then of React, then of the sources, which the islands load next. The order counts on
 * a slow line.
 */
function listModules(html: string, { scripts, page }: App.Locals): string {
  const { ofSource, imports } = scripts
  const [meta, sources = ''] = /<meta name="modules" content="([^"]*)">/.exec(html) ?? []
  if (meta === undefined) return html
  const found = new Set<string>()
  const add = (name: string) => {
    const graph = new Set([name])
    for (const each of graph) for (const next of imports[each] ?? []) graph.add(next)
    for (const each of graph) found.add(each)
  }
  for (const kind of ['component', 'renderer'])
    for (const [, name = ''] of html.matchAll(
      new RegExp(`${kind}-url="/_astro/([^"]+)\\.js"`, 'g')
    ))
      add(name)
  const own = sources.split(' ').filter(Boolean)
  const ofShell = page === pages.home ? homeSources : (sourcesFor[page.guard] ?? [])
  for (const source of [...own, ...ofShell]) {
    const name = ofSource[source]
    if (name === undefined) throw new Error(`No script contains ${source}`)
    add(name)
  }
  return html.replace(meta, `<meta name="modules" content="${[...found].join(' ')}">`)
}

async function hashSource(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}
