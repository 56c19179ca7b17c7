import type { IncomingHttpHeaders } from 'node:http'
import { parseAccept } from 'hono/utils/accept'
import type { Locale } from './astro-build.ts'

export const siteLocales = ['en', 'fr'] as const satisfies Locale[]

/** From the cookie, else the browser's preferences, else the path, else English. */
export function detectLocale(headers: IncomingHttpHeaders, path: string): Locale {
  const chosen = /(?:^|;\s*)i18n_redirected=(en|fr)(?:;|$)/.exec(headers.cookie ?? '')?.[1]
  const [, segment = ''] = path.toLowerCase().split('/')
  return firstOf([chosen, ...preferred(headers['accept-language'] ?? ''), languageOf(segment)])
}

// 'de, fr-CA;q=0.8, en;q=0' → ['de', 'fr']
function preferred(header: string): string[] {
  return parseAccept(header.toLowerCase())
    .filter(({ q }) => q > 0)
    .map(({ type }) => languageOf(type))
}

function languageOf(tag: string): string {
  return tag.split('-')[0] ?? ''
}

function firstOf(names: (string | undefined)[]): Locale {
  return names.flatMap(name => siteLocales.find(locale => locale === name) ?? [])[0] ?? 'en'
}
