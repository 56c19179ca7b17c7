import { LRUCache } from 'lru-cache'
import { getOpenApi, redirectToApiDocs } from '../../contract/docs.ts'
import { createOpenApiDocument } from '../../contract/openapi/openapi.ts'
import words from '../../i18n/en/docs.json' with { type: 'json' }
import { translator } from '../../i18n/index.ts'
import { compressBody, compressedResponse } from '../compression/compressed-bodies.ts'
import { webOriginOf } from '../domain/companies/served-hosts.ts'
import type { Api } from './kit/context.ts'
import { mountNonJsonEndpoint } from './kit/mount.ts'

const brotliQuality = 5
/** Maximum number of hosts whose document is kept. A document takes half a megabyte. */
const maxDocuments = 20

export function mountApiDocumentation(app: Api): void {
  const t = translator('en', words)
  const sentenceOf = (name: string) => t(`calls.${name}`)
  // built once, because only the title and the server differ between hosts
  const document = createOpenApiDocument({ title: '', server: '', sentenceOf })
  const documents = new LRUCache<string, ReturnType<typeof compressBody>>({ max: maxDocuments })

  mountNonJsonEndpoint(app, getOpenApi, async (_input, c) => {
    const { host, config } = c.get('tenant')
    const info = { ...Object(document['info']), title: `${config.name} API` }
    const servers = [{ url: webOriginOf(c.get('deps'), `api.${host}`) }]
    const key = JSON.stringify([info.title, servers])
    let compressed = documents.get(key)
    if (!compressed) {
      const body = Buffer.from(JSON.stringify({ ...document, info, servers }))
      compressed = compressBody(body, 'application/json', brotliQuality)
      documents.set(key, compressed)
    }
    return compressedResponse(
      {
        ifNoneMatch: c.req.header('if-none-match'),
        acceptEncoding: c.req.header('accept-encoding')
      },
      { 'content-type': 'application/json', 'cache-control': 'no-cache' },
      await compressed
    )
  })

  mountNonJsonEndpoint(app, redirectToApiDocs, async (_input, c) =>
    c.redirect(`${webOriginOf(c.get('deps'), c.get('tenant').host)}/docs`, 302)
  )
}
