import { parseAccept } from 'hono/utils/accept'
import { type Locale, locales } from '../i18n/index.ts'
import type { AskHeaders } from './answers.ts'

// CUBOT is a brand of phones.
const crawlers =
  /(?<!cu)bot\b|crawl|spider|slurp|archiver|mediapartners|google-inspectiontool|googleother|feedfetcher|apis-google|facebookexternalhit|facebookcatalog|meta-external|whatsapp|embedly|preview/i

/** Crawlers get error responses without a body. */
export function isCrawler(headers: AskHeaders): boolean {
  return crawlers.test(headers['user-agent'] ?? '')
}

/** From the cookie, else the browser's preferences, else the path, else English. */
export function detectLocale(headers: AskHeaders, path: string): Locale {
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
  return names.flatMap(name => locales.find(locale => locale === name) ?? [])[0] ?? 'en'
}
