import type { IncomingHttpHeaders } from 'node:http'
import { parseAccept } from 'hono/utils/accept'
import type { Locale } from './astro-build.ts'

export const siteLocales = ['en', 'fr'] as const satisfies Locale[]

/**
 * Returns the language for a visitor: from the cookie, else from the browser's preferences, else
 * from the path, else English.
 */
export function detectLocale(headers: IncomingHttpHeaders, path: string): Locale {
  const chosen = /(?:^|;\s*)i18n_redirected=(en|fr)(?:;|$)/.exec(headers.cookie ?? '')?.[1]
  const [, segment = ''] = path.toLowerCase().split('/')
  return firstOf([chosen, ...preferred(headers['accept-language'] ?? ''), languageOf(segment)])
}

/**
 * Returns the languages of an `Accept-Language` header, most preferred first.
 * `'de, fr-CA;q=0.8, en;q=0'` → `['de', 'fr']`
 */
function preferred(header: string): string[] {
  return parseAccept(header.toLowerCase())
    .filter(({ q }) => q > 0)
    .map(({ type }) => languageOf(type))
}

/** Returns the language of a language tag: `'fr-ca'` → `'fr'` */
function languageOf(tag: string): string {
  return tag.split('-')[0] ?? ''
}

function firstOf(names: (string | undefined)[]): Locale {
  return names.flatMap(name => siteLocales.find(locale => locale === name) ?? [])[0] ?? 'en'
}
