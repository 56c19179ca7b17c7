import { getDocs, getOpenApi } from '../../contract/docs.ts'
import { createOpenApi } from '../../contract/openapi/openapi.ts'
import words from '../../i18n/en/docs.json' with { type: 'json' }
import { translator } from '../../i18n/index.ts'
import type { Api, ApiContext } from './kit/context.ts'
import { mountEndpoint, mountRawEndpoint } from './kit/mount.ts'

export function mountDocs(app: Api): void {
  const t = translator('en', words)
  const sentenceOf = (name: string) => t(`calls.${name}`)
  // built once, because only the title and the server differ between hosts
  const document = createOpenApi({ title: '', server: '', sentenceOf })

  mountEndpoint(app, getOpenApi, async (_input, c) => {
    const { name } = c.get('tenant').config
    const info = { ...Object(document['info']), title: `${name} API` }
    return { ...document, info, servers: [{ url: originOf(c, 'api.') }] }
  })

  mountRawEndpoint(app, getDocs, async (_input, c) => c.redirect(`${originOf(c)}/docs`, 302))
}

/**
 * Returns the origin of the company's pages: `'http://localhost:4321'`. With the prefix `'api.'`,
 * returns the origin of the company's API: `'http://api.localhost:4321'`
 */
function originOf(c: ApiContext, prefix = ''): string {
  const { scheme, port } = c.get('deps').settings
  return `${scheme}://${prefix}${c.get('tenant').host}${port === undefined ? '' : `:${port}`}`
}
