import { getOpenApi, redirectToApiDocs } from '../../contract/docs.ts'
import { createOpenApiDocument } from '../../contract/openapi/openapi.ts'
import words from '../../i18n/en/docs.json' with { type: 'json' }
import { translator } from '../../i18n/index.ts'
import { webOriginOf } from '../domain/companies/served-hosts.ts'
import type { Api } from './kit/context.ts'
import { mountEndpoint, mountNonJsonEndpoint } from './kit/mount.ts'

export function mountApiDocumentation(app: Api): void {
  const t = translator('en', words)
  const sentenceOf = (name: string) => t(`calls.${name}`)
  // built once, because only the title and the server differ between hosts
  const document = createOpenApiDocument({ title: '', server: '', sentenceOf })

  mountEndpoint(app, getOpenApi, async (_input, c) => {
    const { host, config } = c.get('tenant')
    const info = { ...Object(document['info']), title: `${config.name} API` }
    return { ...document, info, servers: [{ url: webOriginOf(c.get('deps'), `api.${host}`) }] }
  })

  mountNonJsonEndpoint(app, redirectToApiDocs, async (_input, c) =>
    c.redirect(`${webOriginOf(c.get('deps'), c.get('tenant').host)}/docs`, 302)
  )
}
