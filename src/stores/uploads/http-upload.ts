import { AppError, type ErrorCode } from '../../contract/kit/errors.ts'
import { errorFromProblem } from '../../contract/kit/problems.ts'

const stallMs = 60_000

/** `onProgress` gets how many bytes of `body` have been sent so far, and the total. */
export interface UploadRequest {
  method: string
  uri: string
  headers: Record<string, string>
  body?: Blob | FormData | undefined
  onProgress?: ((bytesSent: number, total: number) => void) | undefined
  signal?: AbortSignal | undefined
}

export interface UploadResponse {
  status: number
  header: (name: string) => string | undefined
  body: string
}

export interface UploadSession {
  http: typeof sendUploadRequest
  /** Called for every request, because the token may be renewed during an upload. */
  token: () => string | undefined
  /** `token` is that of the request. */
  onProblem: (problem: AppError, token: string | undefined) => void
}

export async function sendInSession(
  { http, token, onProblem }: UploadSession,
  request: UploadRequest
): Promise<UploadResponse> {
  const current = token()
  const headers = { ...request.headers, ...(current ? { Authorization: `Bearer ${current}` } : {}) }
  const answer = await http({ ...request, headers }).catch((cause: unknown) => {
    throw new AppError('offline', `${request.method} got no answer`, { cause })
  })
  if (answer.status < 400) return answer
  const problem = problemOf(request.method, answer)
  onProblem(problem, current)
  throw allowRetry(problem, token())
}

// if the server has refused an older token than `token`, the call may be repeated
export function allowRetry(error: unknown, token: string | undefined): unknown {
  const isStale = error instanceof AppError && error.status === 401 && token
  return isStale ? new AppError('unavailable', 'The token was renewed', { cause: error }) : error
}

function problemOf(method: string, { status, header, body }: UploadResponse): AppError {
  const seconds = Number(header('Retry-After') ?? Number.NaN)
  const retryAfter = Number.isNaN(seconds) ? undefined : seconds
  const code = method === 'HEAD' && headCodes[status]
  if (code) return new AppError(code, `HEAD answered ${status}`, retryAfter ? { retryAfter } : {})
  return errorFromProblem(status, tryParseJson(body), retryAfter)
}

// a response to HEAD has no body that could contain a code
const headCodes: Record<number, ErrorCode> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  409: 'cancelled',
  410: 'lapsed',
  429: 'rate_limited',
  503: 'unavailable'
}

// the browser reports a lost connection when a file was moved or changed since it was chosen
export async function findReadError(error: unknown, bytes: Blob): Promise<AppError | undefined> {
  if (!(error instanceof AppError) || error.code !== 'offline') return undefined
  try {
    await bytes.slice(0, 1).arrayBuffer()
    return undefined
  } catch (cause) {
    return new AppError('file_unreadable', 'The file can no longer be read', { cause })
  }
}

// `fetch` cannot report how much of a body has been sent
export function sendUploadRequest(upload: UploadRequest): Promise<UploadResponse> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const stop = () => request.abort()
    let stall = setTimeout(stop, stallMs)
    request.open(upload.method, upload.uri)
    for (const [name, value] of Object.entries(upload.headers)) {
      request.setRequestHeader(name, value)
    }
    request.upload.onprogress = event => {
      clearTimeout(stall)
      stall = setTimeout(stop, stallMs)
      upload.onProgress?.(event.loaded, event.total)
    }
    request.onload = () => {
      resolve({
        status: request.status,
        header: name => request.getResponseHeader(name) ?? undefined,
        body: request.responseText
      })
    }
    request.onerror = () => reject(new Error(`${upload.method} got no answer`))
    request.onabort = () => reject(new Error(`${upload.method} was cut`))
    request.onloadend = () => {
      clearTimeout(stall)
      upload.signal?.removeEventListener('abort', stop)
    }
    upload.signal?.addEventListener('abort', stop)
    request.send(upload.body ?? null)
    if (upload.signal?.aborted) stop()
  })
}

// another text may be the error page of a proxy
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
