import type { DetailedError, HttpResponse } from 'tus-js-client'
import { AppError, type ErrorCode } from '../../contract/errors.ts'
import { uploadChunkBytes } from '../../contract/limits.ts'
import { fromProblem } from '../../contract/problems.ts'
import { type HttpAnswer, httpStack, type httpUpload } from './http-upload.ts'

export interface SendOptions {
  onProgress?: (bytesSent: number) => void
  signal?: AbortSignal
}

export interface TusClient {
  /** One try, from where the server stands; the answer of the last byte is the server's promise. */
  send: (url: string, bytes: Blob, options?: SendOptions) => Promise<void>
  /** How many bytes the server holds. */
  held: (url: string) => Promise<number>
  /** Cancels the deposit and gives its reservation back. */
  release: (url: string) => Promise<void>
}

/** `token` is read anew for every request, so that a renewed one is used within an upload. */
export function createTusClient(given: {
  http: typeof httpUpload
  token: () => string | undefined
}): TusClient {
  return {
    async send(url, bytes, options = {}) {
      const lastMethod = await transfer(given, url, bytes, options)
      // the server held every byte already: its promise for the last one may never have been given
      if (lastMethod === 'HEAD') await finish(given, url, bytes.size)
    },
    async held(url) {
      const answer = await request(given, 'HEAD', url, {})
      if (answer.status >= 400) throw problemOf('HEAD', answer.status, answer.body)
      return Number(answer.header('Upload-Offset') ?? 0)
    },
    async release(url) {
      const answer = await request(given, 'DELETE', url, {})
      if (answer.status >= 400) throw problemOf('DELETE', answer.status, answer.body)
    }
  }
}

type Given = Parameters<typeof createTusClient>[0]

async function transfer(
  given: Given,
  url: string,
  bytes: Blob,
  { onProgress, signal }: SendOptions
): Promise<string> {
  const { Upload } = await import('tus-js-client')
  let lastMethod = ''
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      uploadUrl: url,
      chunkSize: uploadChunkBytes,
      retryDelays: null, // the queue waits and retries, for the reservation as for the bytes
      storeFingerprintForResuming: false,
      httpStack: httpStack(given.http),
      fileReader: { openFile: async (input: Blob) => sourceOf(input) },
      onBeforeRequest: request => {
        for (const [name, value] of Object.entries(authorization(given))) {
          request.setHeader(name, value)
        }
      },
      onAfterResponse: request => {
        lastMethod = request.getMethod()
      },
      onProgress: bytesSent => onProgress?.(bytesSent),
      onSuccess: () => {
        signal?.removeEventListener('abort', stop)
        resolve(lastMethod)
      },
      onError: error => {
        signal?.removeEventListener('abort', stop)
        void errorOf(error, bytes).then(reject)
      }
    })
    const stop = () => {
      void upload.abort()
      reject(new Error('terminated'))
    }
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    else upload.start()
  })
}

/** An empty piece at the end makes the server take what it holds; a taken one answers `upload_state`. */
async function finish(given: Given, url: string, size: number): Promise<void> {
  const answer = await request(given, 'PATCH', url, {
    'Upload-Offset': String(size),
    'Content-Type': 'application/offset+octet-stream'
  })
  if (answer.status < 400) return
  const problem = problemOf('PATCH', answer.status, answer.body)
  if (problem.code !== 'upload_state') throw problem
}

async function request(
  given: Given,
  method: string,
  uri: string,
  extra: Record<string, string>
): Promise<HttpAnswer> {
  const headers = { 'Tus-Resumable': '1.0.0', ...extra, ...authorization(given) }
  try {
    return await given.http({ method, uri, headers })
  } catch (cause) {
    throw new AppError('offline', `${method} of an upload got no answer`, { cause })
  }
}

function authorization({ token }: Given): Record<string, string> {
  const held = token()
  return held ? { Authorization: `Bearer ${held}` } : {}
}

/** As the library's own for blobs, without its detection of the environment. */
function sourceOf(input: Blob) {
  return {
    size: input.size,
    slice: async (start: number, end: number) => ({
      value: input.slice(start, end),
      done: end >= input.size
    }),
    close: () => undefined
  }
}

async function errorOf(error: Error | DetailedError, bytes: Blob): Promise<AppError> {
  const response: HttpResponse | null = 'originalResponse' in error ? error.originalResponse : null
  if (response?.getStatus()) {
    const method = 'originalRequest' in error ? error.originalRequest.getMethod() : ''
    return problemOf(method, response.getStatus(), response.getBody())
  }
  try {
    await bytes.slice(0, 1).arrayBuffer()
  } catch (cause) {
    // a file that was moved or changed since it was chosen looks like a cut connection
    return new AppError('file_unreadable', 'The file can no longer be read', { cause })
  }
  return new AppError('offline', error.message, { cause: error })
}

/** Answers to HEAD carry no body, so that their status alone must say it. */
const headCodes: Record<number, ErrorCode> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  409: 'cancelled',
  410: 'lapsed',
  429: 'rate_limited',
  503: 'unavailable'
}

function problemOf(method: string, status: number, body: string): AppError {
  const known = headCodes[status]
  if (method === 'HEAD' && known) return new AppError(known, `HEAD answered ${status}`)
  return fromProblem(status, parsed(body))
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
