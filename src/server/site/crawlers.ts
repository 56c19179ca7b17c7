import type { IncomingHttpHeaders } from 'node:http'

// CUBOT is a brand of phones.
const crawlers =
  /(?<!cu)bot\b|crawl|spider|slurp|archiver|mediapartners|google-inspectiontool|googleother|feedfetcher|apis-google|facebookexternalhit|facebookcatalog|meta-external|whatsapp|embedly|preview/i

/** Crawlers get error responses without a body. */
export function isCrawler(headers: IncomingHttpHeaders): boolean {
  return crawlers.test(headers['user-agent'] ?? '')
}
