import { createHash, randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as z from 'zod/mini'
import { listAllowedCategories } from '../../src/contract/categories.ts'
import { createDeposit, putDeposit } from '../../src/contract/deposits.ts'
import { call } from '../../src/contract/kit/call.ts'
import type { Endpoint } from '../../src/contract/kit/endpoint.ts'
import { getChallenge, logIn } from '../../src/contract/sessions.ts'
import { createUser } from '../../src/contract/users.ts'
import { makeKeys, type TestKeys } from './keys.ts'

interface SentRequest {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: Uint8Array
  /** Runs when half of the body has been sent. The other half is sent once its promise resolves. */
  halfway?: () => Promise<void>
  agent?: http.Agent
}

export interface HttpAnswer {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
}

export type Client = Awaited<ReturnType<typeof signUpAt>>

/**
 * Sends one HTTP request to a port of this machine under any host name. Rejects when the connection
 * ends early.
 */
function send(port: number, host: string, sent: SentRequest): Promise<HttpAnswer> {
  const { method = 'GET', path, headers = {}, body, halfway, agent } = sent
  return new Promise((resolve, reject) => {
    const outgoing = http.request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: agent ?? false,
      headers: { host, ...headers, ...(body ? { 'content-length': String(body.length) } : {}) }
    })
    outgoing.on('error', reject)
    outgoing.once('response', response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.once('error', reject)
      response.once('close', () => {
        const { statusCode = 0, headers } = response
        if (response.complete) resolve({ status: statusCode, headers, body: Buffer.concat(chunks) })
        else reject(new Error('the answer was cut'))
      })
    })
    if (!halfway || !body) return void outgoing.end(body)
    const half = body.length >> 1
    outgoing.write(body.subarray(0, half))
    halfway().then(() => outgoing.end(body.subarray(half)), reject)
  })
}

/**
 * Returns a `fetch` that sends requests for any host to a port of this machine. Node's own `fetch`
 * ignores a `Host` header, and `*.localhost` may not resolve.
 */
export function fetchAt(port: number): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { host, pathname, search } = new URL(request.url)
    const body = Buffer.from(await request.arrayBuffer())
    const answer = await send(port, host, {
      method: request.method,
      path: pathname + search,
      headers: Object.fromEntries(request.headers),
      ...(body.length > 0 ? { body } : {})
    })
    return new Response(answer.status === 204 ? null : answer.body.toString(), {
      status: answer.status,
      // as: single values, none of which this needs to keep apart
      headers: answer.headers as Record<string, string>
    })
  }
}

/** Returns a `fetch` that retries for a minute while the service is too busy (503). */
function retryWhileBusy(fetch: typeof globalThis.fetch): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    for (const until = Date.now() + 60_000; ; await sleep(200)) {
      const answer = await fetch(request.clone())
      if (answer.status !== 503 || Date.now() > until) return answer
    }
  }
}

/** Returns the request and the upload of a `POST /deposit` answer. Throws if it has no upload. */
export function uploadOf(answer: z.output<(typeof createDeposit)['output']>) {
  if ('duplicate' in answer || answer.upload === undefined) {
    throw new Error(`no upload was made: ${JSON.stringify(answer)}`)
  }
  return { request: answer.request, upload: answer.upload }
}

interface Newcomer {
  email?: string
  username?: string
  locale?: 'en' | 'fr'
  keys?: TestKeys
}

/** Returns an e-mail that no account has, even when a test is retried. */
export function newEmail(): string {
  return `person-${randomUUID()}@example.com`
}

/**
 * Signs a new person up and in through a real port. Returns functions that call the API as their
 * browser would.
 */
export async function signUpAt(port: number, host: string, newcomer: Newcomer = {}) {
  const { email = newEmail(), username = 'Ada', locale, keys = makeKeys() } = newcomer
  const base = `http://api.${host}`
  const options = { base, fetch: fetchAt(port) }
  const arriving = { base, fetch: retryWhileBusy(options.fetch) }
  const { challenge: nonce } = await call(getChallenge, { email, purpose: 'signup' }, arriving)
  const public_key_jwt = keys.publicKeyJwt({ aud: host, email, purpose: 'signup', nonce })
  const account = { email, username, public_key_jwt, ...(locale && { locale }) }
  const { id } = await call(createUser, account, arriving)
  let token = await signIn()

  async function signIn(): Promise<string> {
    const { challenge } = await call(getChallenge, { email }, arriving)
    const challenge_response = keys.respond(challenge)
    return (await call(logIn, { email, challenge_response }, arriving)).access_token
  }

  function callAt<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
    endpoint: Endpoint<Input, Output>,
    input: z.input<Input>,
    more: { idempotencyKey?: string; fetch?: typeof fetch } = {}
  ): Promise<z.output<Output>> {
    return call(endpoint, input, { ...options, token, ...more })
  }

  const [category] = await callAt(listAllowedCategories, {})
  if (!category) throw new Error('the default group allows no category')

  return {
    id,
    host,
    email,
    keys,
    call: callAt,
    token: () => token,
    /** Sends any request as this person, by default to the port that they signed up at. */
    send: ({ at = port, headers, ...sent }: SentRequest & { at?: number }): Promise<HttpAnswer> =>
      send(at, `api.${host}`, {
        ...sent,
        headers: { authorization: `Bearer ${token}`, ...headers }
      }),
    async renew() {
      token = await signIn()
    },
    /** Calls `POST /deposit` for these bytes. */
    async reserve(
      bytes: Uint8Array,
      key: string,
      more: { fetch?: typeof fetch; name?: string } = {}
    ) {
      const { name = 'document.pdf', ...rest } = more
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const { length: size } = bytes
      const declared = { name, size, original: sha256, stored: sha256 }
      const input = {
        ...declared,
        media_type: 'application/pdf',
        category: category.id,
        again: true
      }
      return uploadOf(await callAt(createDeposit, input, { idempotencyKey: key, ...rest }))
    },
    /** Calls `PUT /deposit` as `curl -T` does. */
    put(
      body: Uint8Array,
      { name, key, halfway }: { name: string; key: string; halfway?: () => Promise<void> }
    ): Promise<HttpAnswer> {
      const query = new URLSearchParams({ name, category: category.id })
      return send(port, `api.${host}`, {
        method: 'PUT',
        path: `${putDeposit.path}?${query}`,
        headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
        body,
        ...(halfway ? { halfway } : {})
      })
    },
    /**
     * Sends a tus request for an upload. `sent.at` is the port, by default the one that the person
     * signed up at.
     */
    tus(method: 'HEAD' | 'PATCH' | 'DELETE', upload: string, sent: Tus = {}): Promise<HttpAnswer> {
      const { offset, body, at = port } = sent
      return send(at, `api.${host}`, {
        method,
        path: upload,
        headers: {
          authorization: `Bearer ${token}`,
          'tus-resumable': '1.0.0',
          ...(offset === undefined ? {} : { 'upload-offset': String(offset) }),
          ...(body ? { 'content-type': 'application/offset+octet-stream' } : {})
        },
        ...(body ? { body } : {})
      })
    }
  }
}

interface Tus {
  offset?: number
  body?: Uint8Array
  at?: number
}
