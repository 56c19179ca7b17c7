import { compressBody } from '../../src/server/compression/compressed-bodies.ts'
import { createSiteOwners } from '../../src/server/http/site-owners.ts'
import type { Owner } from '../../src/site/owners.ts'
import { createSite, type Site, type SiteOptions } from '../../src/site/site.ts'

/** For tests of the API. */
export const noSite: Pick<Site, 'answer'> = {
  answer: async () => ({ status: 421, headers: {} })
}

export const noOwners = createSiteOwners(undefined, async () => undefined)

type Resolve = (host: string) => Promise<Pick<Owner, 'company_id' | 'config'> | undefined>

/** Creates a site that limits nobody and logs nothing. */
export function makeSite(
  options: Pick<SiteOptions, 'pages'> & Partial<Omit<SiteOptions, 'resolve'>> & { resolve: Resolve }
): Site {
  return createSite({
    inPlace: (_domain, render) => render(),
    scheme: 'http',
    port: undefined,
    log: { warn() {}, error() {} },
    encode: compressBody,
    maxCacheBytes: 256 * 1024 * 1024,
    ...options,
    resolve: async host => {
      const owner = await options.resolve(host)
      return owner && { ...owner, checksPerMinute: 60, publicAddresses: [] }
    }
  })
}
