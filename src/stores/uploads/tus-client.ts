import type { DetailedError, HttpRequest } from 'tus-js-client'
import { AppError, type ErrorCode } from '../../contract/kit/errors.ts'
import { uploadChunkBytes } from '../../contract/kit/limits.ts'
import { errorFromProblem } from '../../contract/kit/problems.ts'
import { type sendUploadRequest, tryParseJson, type UploadResponse } from './http-upload.ts'

export interface TusSendOptions {
  onProgress?: (bytesSent: number) => void
  signal?: AbortSignal
}

export type TusClient = ReturnType<typeof createTusClient>

interface TusClientOptions {
  http: typeof sendUploadRequest
  /**
   * Returns the session token. Called for every request, because the token may be renewed during an
   * upload.
   */
  token: () => string | undefined
  onProblem: (problem: AppError) => void
}

/** Creates a client that uploads files by the tus protocol, which can resume an upload. */
export function createTusClient({ http, token, onProblem }: TusClientOptions) {
  function authorization(): Record<string, string> {
    const current = token()
    return current ? { Authorization: `Bearer ${current}` } : {}
  }

  function problemOf(method: string, status: number, body: string): AppError {
    const code = method === 'HEAD' && headCodes[status]
    const problem = code
      ? new AppError(code, `HEAD answered ${status}`)
      : errorFromProblem(status, tryParseJson(body))
    onProblem(problem)
    return problem
  }

  async function errorOf(error: Error | DetailedError, bytes: Blob): Promise<AppError> {
    const response = 'originalResponse' in error ? error.originalResponse : null
    if (response?.getStatus()) {
      const method = 'originalRequest' in error ? error.originalRequest.getMethod() : ''
      return problemOf(method, response.getStatus(), response.getBody())
    }
    try {
      await bytes.slice(0, 1).arrayBuffer()
    } catch (cause) {
      // a file that was moved or changed since it was chosen looks like a lost connection
      return new AppError('file_unreadable', 'The file can no longer be read', { cause })
    }
    return new AppError('offline', error.message, { cause: error })
  }

  async function request(method: string, uri: string): Promise<UploadResponse> {
    const headers = { 'Tus-Resumable': '1.0.0', ...authorization() }
    const answer = await http({ method, uri, headers }).catch((cause: unknown) => {
      throw new AppError('offline', `${method} of an upload got no answer`, { cause })
    })
    if (answer.status >= 400) throw problemOf(method, answer.status, answer.body)
    return answer
  }

  return {
    /**
     * Makes one attempt to send the bytes that the server does not have yet. Once it succeeds, the
     * server has all bytes and has promised to record the deposit.
     */
    async send(
      url: string,
      bytes: Blob,
      { onProgress, signal }: TusSendOptions = {}
    ): Promise<void> {
      const { Upload } = await import('tus-js-client')
      return new Promise((resolve, reject) => {
        const upload = new Upload(bytes, {
          uploadUrl: url,
          chunkSize: uploadChunkBytes,
          retryDelays: null, // the queue retries all its calls by its own rules
          storeFingerprintForResuming: false,
          httpStack: {
            getName: () => 'http-upload',
            createRequest: (method, uri) => createRequest(http, method, uri)
          },
          fileReader: { openFile: async (input: Blob) => sourceOf(input) },
          onBeforeRequest: request => {
            for (const [name, value] of Object.entries(authorization())) {
              request.setHeader(name, value)
            }
          },
          onProgress: bytesSent => onProgress?.(bytesSent),
          onSuccess: () => resolve(),
          onError: error => void errorOf(error, bytes).then(reject)
        })
        const stop = () => {
          void upload.abort()
          reject(new Error('terminated'))
        }
        signal?.addEventListener('abort', stop, { once: true })
        if (signal?.aborted) stop()
        else upload.start()
      })
    },

    async getOffset(url: string): Promise<number> {
      return Number((await request('HEAD', url)).header('Upload-Offset') ?? 0)
    },

    /** Cancels the upload at `url`. This also releases the reservation of its deposit. */
    async cancel(url: string): Promise<void> {
      await request('DELETE', url)
    }
  }
}

function createRequest(http: typeof sendUploadRequest, method: string, uri: string): HttpRequest {
  const headers: Record<string, string> = {}
  const controller = new AbortController()
  let onProgress: ((bytesSent: number) => void) | undefined
  return {
    getMethod: () => method,
    getURL: () => uri,
    setHeader: (name, value) => {
      headers[name] = value
    },
    getHeader: name => headers[name],
    setProgressHandler: handler => {
      onProgress = handler
    },
    async send(body: Blob | null) {
      const answer = await http({
        method,
        uri,
        headers,
        body: body ?? undefined,
        onProgress,
        signal: controller.signal
      })
      return {
        getStatus: () => answer.status,
        getHeader: answer.header,
        getBody: () => answer.body,
        getUnderlyingObject: () => answer
      }
    },
    abort: async () => controller.abort(),
    getUnderlyingObject: () => undefined
  }
}

/**
 * Returns a reader of a blob for the upload library. The library's own reader for blobs works only
 * in browsers.
 */
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

/**
 * The error code for each HTTP status of a response to HEAD. Other responses contain the code in
 * their body, but a response to HEAD has no body.
 */
const headCodes: Record<number, ErrorCode> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  409: 'cancelled',
  410: 'lapsed',
  429: 'rate_limited',
  503: 'unavailable'
}
