import { getOpenApi, redirectToApiDocs } from '../../contract/docs.ts'
import { createOpenApiDocument } from '../../contract/openapi/openapi.ts'
import words from '../../i18n/en/docs.json' with { type: 'json' }
import { translator } from '../../i18n/index.ts'
import { compressedResponse } from '../compression/compressed-bodies.ts'
import { createTailedBodies } from '../compression/tailed-bodies.ts'
import { webOriginOf } from '../domain/companies/served-hosts.ts'
import type { Api } from './kit/context.ts'
import { mountNonJsonEndpoint } from './kit/mount.ts'

export function mountApiDocumentation(app: Api): void {
  const t = translator('en', words)
  const sentenceOf = (name: string) => t(`calls.${name}`)
  const {
    info,
    servers: _,
    ...common
  } = createOpenApiDocument({ title: '', server: '', sentenceOf })
  // built and compressed once, because only the title and the server differ between hosts
  const bodyWith = createTailedBodies(JSON.stringify(common).slice(0, -1))

  mountNonJsonEndpoint(app, getOpenApi, async (_input, c) => {
    const { host, config } = c.get('tenant')
    const own = {
      info: { ...Object(info), title: `${config.name} API` },
      servers: [{ url: webOriginOf(c.get('deps'), `api.${host}`) }]
    }
    return compressedResponse(
      {
        ifNoneMatch: c.req.header('if-none-match'),
        acceptEncoding: c.req.header('accept-encoding')
      },
      { 'content-type': 'application/json', 'cache-control': 'no-cache' },
      bodyWith(`,${JSON.stringify(own).slice(1)}`)
    )
  })

  mountNonJsonEndpoint(app, redirectToApiDocs, async (_input, c) =>
    c.redirect(`${webOriginOf(c.get('deps'), c.get('tenant').host)}/docs`, 302)
  )
}
