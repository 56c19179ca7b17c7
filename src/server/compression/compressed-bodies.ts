import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { parseAccept } from 'hono/utils/accept'
import { LRUCache } from 'lru-cache'
import { includesEtag } from '../../core/http-headers/etags.ts'

export interface CompressedBody {
  etag: string
  identity: Buffer
  br?: Buffer
  gzip?: Buffer
  /** The memory of the plain body and its variants together, in bytes. */
  size: number
}

const leastBytes = 1024
const compressible = /^(?:text\/|application\/(?:json|wasm)|image\/svg)/

/**
 * Compresses in other threads. A small body, or one of a type that compresses badly, has no
 * variants.
 */
export async function compressBody(
  body: Buffer,
  type: string,
  quality: number
): Promise<CompressedBody> {
  const hash = createHash('sha256').update(body).digest('base64url')
  const encoded: CompressedBody = { etag: `W/"${hash}"`, identity: body, size: body.length }
  if (body.length >= leastBytes && compressible.test(type)) {
    await compress(encoded, quality).catch(() => {
      // the plain bytes are sent instead
    })
  }
  return encoded
}

async function compress(encoded: CompressedBody, quality: number): Promise<void> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: encoded.identity.length
  }
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(encoded.identity, { params }),
    promisify(gzip)(encoded.identity)
  ])
  Object.assign(encoded, { br, gzip: gzipped })
  encoded.size += br.length + gzipped.length
}

/** Writes all headers in one call, because setting them one by one takes twice as long. */
export function sendCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  encoded: CompressedBody
): void {
  if (status === 200 && includesEtag(request.headers['if-none-match'], encoded.etag)) {
    const { 'content-type': _type, ...kept } = headers
    response.writeHead(304, { ...kept, etag: encoded.etag }).end()
    return
  }
  const [encoding, body] = choose(request.headers['accept-encoding'], encoded)
  response.writeHead(status, {
    ...headers,
    etag: encoded.etag,
    ...(encoding ? { 'content-encoding': encoding } : {}),
    'content-length': body.length
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** `ifNoneMatch` and `acceptEncoding` are headers of the request. */
export function compressedResponse(
  request: { ifNoneMatch: string | undefined; acceptEncoding: string | undefined },
  headers: Record<string, string>,
  encoded: CompressedBody
): Response {
  const { 'content-type': type = '', ...kept } = headers
  const always = { ...kept, etag: encoded.etag, vary: 'Origin, Accept-Encoding' }
  if (includesEtag(request.ifNoneMatch, encoded.etag))
    return new Response(null, { status: 304, headers: always })
  const [encoding, body] = choose(request.acceptEncoding, encoded)
  return new Response(new Uint8Array(body), {
    headers: {
      ...always,
      'content-type': type,
      ...(encoding ? { 'content-encoding': encoding } : {})
    }
  })
}

function choose(
  header: string | string[] | undefined,
  encoded: CompressedBody
): [string | undefined, Buffer] {
  const accepted = acceptedEncodings.memo(String(header ?? ''))
  if (encoded.br && accepted.includes('br')) return ['br', encoded.br]
  if (encoded.gzip && accepted.includes('gzip')) return ['gzip', encoded.gzip]
  return [undefined, encoded.identity]
}

// browsers send few different headers, so each is parsed once: 'gzip, br;q=0' → ['gzip']
const acceptedEncodings = new LRUCache<string, string[]>({
  max: 1000,
  memoMethod: header =>
    parseAccept(header)
      .filter(({ q }) => q > 0)
      .map(({ type }) => type)
})
