import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getOpenApi, redirectToApiDocs } from '../../contract/docs.ts'
import { createOpenApiDocument } from '../../contract/openapi/openapi.ts'
import { sentencesIn } from '../../contract/openapi/sentences.ts'
import words from '../../i18n/en/docs.json' with { type: 'json' }
import { encodedAnswer } from '../../site/answers.ts'
import { compressBody } from '../compression/compressed-bodies.ts'
import { webOriginOf } from '../domain/companies/served-hosts.ts'
import type { Api } from './kit/context.ts'
import { mountNonJsonEndpoint } from './kit/mount.ts'

const brotliQuality = 9

export function mountApiDocumentation(app: Api): void {
  mountNonJsonEndpoint(app, getOpenApi, async (_input, c) => {
    const { body, ...answer } = encodedAnswer(
      { method: 'GET', headers: c.req.header() },
      200,
      {
        'content-type': 'application/json',
        'cache-control': 'no-cache',
        vary: 'Origin, Accept-Encoding'
      },
      await openApiBody()
    )
    return new Response(body, answer)
  })

  mountNonJsonEndpoint(app, redirectToApiDocs, async (_input, c) =>
    c.redirect(`${webOriginOf(c.get('deps'), c.get('tenant').host)}/docs`, 302)
  )
}

// made for the first request, because it takes longer than the rest of the app
let body: ReturnType<typeof compressBody> | undefined

function openApiBody(): ReturnType<typeof compressBody> {
  body ??= compressBody(
    Buffer.from(JSON.stringify(describeApi())),
    'application/json',
    brotliQuality
  )
  return body
}

function describeApi(): object {
  const sentences: Record<string, string> = { ...callSentences(), api: words.calls.api }
  return createOpenApiDocument({
    title: words.title,
    sentenceOf(name) {
      const sentence = sentences[name]
      if (sentence === undefined) throw new Error(`No comment in src/contract describes ${name}`)
      return sentence
    }
  })
}

function callSentences(): Record<string, string> {
  const folder = join(import.meta.dirname, '../../contract')
  const files = readdirSync(folder).filter(file => file.endsWith('.ts'))
  return sentencesIn(files.map(file => readFileSync(join(folder, file), 'utf8')).join('\n')).calls
}
