import { getOpenApi, redirectToApiDocs } from '../../contract/docs.ts'
import { createOpenApiDocument } from '../../contract/openapi/openapi.ts'
import words from '../../i18n/en/docs.json' with { type: 'json' }
import { translator } from '../../i18n/index.ts'
import { compressBody, compressedResponse } from '../compression/compressed-bodies.ts'
import { webOriginOf } from '../domain/companies/served-hosts.ts'
import type { Api } from './kit/context.ts'
import { mountNonJsonEndpoint } from './kit/mount.ts'

const brotliQuality = 9

export function mountApiDocumentation(app: Api): void {
  const t = translator('en', words)
  const document = createOpenApiDocument({
    title: t('title'),
    sentenceOf: name => t(`calls.${name}`)
  })
  const body = compressBody(
    Buffer.from(JSON.stringify(document)),
    'application/json',
    brotliQuality
  )

  mountNonJsonEndpoint(app, getOpenApi, async (_input, c) =>
    compressedResponse(
      {
        ifNoneMatch: c.req.header('if-none-match'),
        acceptEncoding: c.req.header('accept-encoding')
      },
      { 'content-type': 'application/json', 'cache-control': 'no-cache' },
      await body
    )
  )

  mountNonJsonEndpoint(app, redirectToApiDocs, async (_input, c) =>
    c.redirect(`${webOriginOf(c.get('deps'), c.get('tenant').host)}/docs`, 302)
  )
}
