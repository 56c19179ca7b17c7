import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HostName } from '../../contract/domains.ts'
import { type Owner, siteSecretHeader } from '../../site/owners.ts'

export interface SiteOwners {
  /** Whether a process of the site asks, which it shows by a header. */
  isAsked(request: IncomingMessage): boolean
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/**
 * Tells processes of the site that know the secret whose a host is: `GET /docs.acme.fr`. Without a
 * secret, it tells nobody.
 */
export function createSiteOwners(
  secret: string | undefined,
  resolve: (host: string) => Promise<Owner | undefined>
): SiteOwners {
  const expected = secret === undefined ? undefined : hash(secret)
  return {
    isAsked: request => request.headers[siteSecretHeader] !== undefined,
    async answer({ headers, url = '' }, response) {
      const given = hash(String(headers[siteSecretHeader]))
      if (!expected || !timingSafeEqual(given, expected)) return send(response, 403)
      const host = HostName.safeParse(url.slice(1))
      const owner = host.success ? await resolve(host.data) : undefined
      send(response, owner ? 200 : 404, owner)
    }
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function send(response: ServerResponse, status: number, body: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
