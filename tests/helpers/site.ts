import { compressBody } from '../../src/server/compression/compressed-bodies.ts'
import { createSite, type Site, type SiteOptions } from '../../src/site/site.ts'

/** For tests of the API. */
export const noSite: Pick<Site, 'answer'> = {
  answer: async () => ({ status: 421, headers: {} })
}

/** Creates a site that limits nobody and logs nothing. */
export function makeSite(
  options: Pick<SiteOptions, 'pages' | 'resolve'> & Partial<SiteOptions>
): Site {
  return createSite({
    inPlace: (_domain, render) => render(),
    scheme: 'http',
    port: undefined,
    log: { warn() {}, error() {} },
    encode: compressBody,
    maxCacheBytes: 256 * 1024 * 1024,
    checksPerMinute: 60,
    publicAddresses: [],
    ...options
  })
}
