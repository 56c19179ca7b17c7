import type { IncomingHttpHeaders } from 'node:http'
import type { Locale } from './astro-build.ts'

const locales = ['en', 'fr'] as const satisfies Locale[]

/** What a reader wants to read: the language cookie, the browser's languages, the path, then English. */
export function detectLocale(headers: IncomingHttpHeaders, path: string): Locale {
  const chosen = /(?:^|;\s*)i18n_redirected=(en|fr)(?:;|$)/.exec(headers.cookie ?? '')?.[1]
  const [, segment = ''] = path.toLowerCase().split('/')
  return firstOf([chosen, ...preferred(headers['accept-language'] ?? ''), languageOf(segment)])
}

/** `'de, fr-CA;q=0.8, en;q=0'` → `['de', 'fr']` */
function preferred(header: string): string[] {
  return header
    .split(',')
    .map((entry, index) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';')
      const weight = /^\s*q=([\d.]+)\s*$/.exec(parameters.join(';'))?.[1]
      return { language: languageOf(tag), weight: Number(weight ?? 1), index }
    })
    .filter(entry => entry.weight > 0)
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .map(entry => entry.language)
}

/** `'fr-ca'` → `'fr'` */
function languageOf(tag: string): string {
  return tag.split('-')[0] ?? ''
}

function firstOf(names: (string | undefined)[]): Locale {
  return names.flatMap(name => locales.find(locale => locale === name) ?? [])[0] ?? 'en'
}
