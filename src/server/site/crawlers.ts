import type { IncomingHttpHeaders } from 'node:http'

// CUBOT makes telephones.
const crawlers =
  /(?<!cu)bot\b|crawl|spider|slurp|archiver|mediapartners|google-inspectiontool|googleother|feedfetcher|apis-google|facebookexternalhit|facebookcatalog|meta-external|whatsapp|embedly|preview/i

/** Whether a program reads that has no use for the page of an error. */
export function isCrawler(headers: IncomingHttpHeaders): boolean {
  return crawlers.test(headers['user-agent'] ?? '')
}
