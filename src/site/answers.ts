import { parseAccept } from 'hono/utils/accept'
import { LRUCache } from 'lru-cache'
import type { Bytes } from '../core/bytes.ts'
import { includesEtag } from '../core/http-headers/etags.ts'

/** What the site is asked. */
export interface Ask {
  method: string
  /** Path and query, as they were sent. */
  target: string
  headers: AskHeaders
}

/** The headers that count, by lower-case name. */
export interface AskHeaders {
  'accept-encoding'?: string | string[] | undefined
  'accept-language'?: string | undefined
  cookie?: string | undefined
  'if-none-match'?: string | undefined
  'user-agent'?: string | undefined
}

export interface Answer {
  status: number
  headers: Record<string, string>
  /** Undefined also for `HEAD`. */
  body?: Bytes | string | undefined
}

/** A body with its compressed variants, if there are any. */
export interface EncodedBody {
  etag: string
  identity: Bytes
  br?: Bytes
  gzip?: Bytes
  /** The memory of the plain body and its variants together, in bytes. */
  size: number
}

/** Answers 304 if the client has the body, else the variant that it likes best. */
export function encodedAnswer(
  { method, headers: asked }: Pick<Ask, 'method' | 'headers'>,
  status: number,
  headers: Record<string, string>,
  encoded: EncodedBody
): Answer {
  const { etag } = encoded
  if (status === 200 && includesEtag(asked['if-none-match'], etag)) {
    const { 'content-type': _type, ...kept } = headers
    return { status: 304, headers: { ...kept, etag } }
  }
  const [encoding, body] = chooseVariant(asked['accept-encoding'], encoded)
  return {
    status,
    headers: {
      ...headers,
      etag,
      ...(encoding ? { 'content-encoding': encoding } : {}),
      'content-length': String(body.length)
    },
    body: method === 'HEAD' ? undefined : body
  }
}

function chooseVariant(
  header: string | string[] | undefined,
  encoded: EncodedBody
): [encoding: string | undefined, body: Bytes] {
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
