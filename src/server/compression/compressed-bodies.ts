import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Bytes } from '../../core/bytes.ts'
import type { EncodedBody } from '../../site/answers.ts'

const leastBytes = 1024
const compressible = /^(?:text\/|application\/(?:json|wasm)|image\/svg)/

/**
 * Compresses in other threads. A small body, or one of a type that compresses badly, has no
 * variants.
 */
export async function compressBody(
  body: Bytes,
  type: string,
  quality: number
): Promise<EncodedBody> {
  const hash = createHash('sha256').update(body).digest('base64url')
  const encoded: EncodedBody = { etag: `W/"${hash}"`, identity: body, size: body.length }
  if (body.length >= leastBytes && compressible.test(type)) {
    await compress(encoded, quality).catch(() => {
      // the plain bytes are sent instead
    })
  }
  return encoded
}

async function compress(encoded: EncodedBody, quality: number): Promise<void> {
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
