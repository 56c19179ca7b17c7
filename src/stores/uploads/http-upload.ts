/** A request that makes no progress and gets no response for this many milliseconds is aborted. */
const stallMs = 60_000

/**
 * One HTTP request of an upload or a batch. `onProgress` gets the number of bytes of `body` that
 * have been sent so far, and the total number to send.
 */
export interface UploadRequest {
  method: string
  uri: string
  headers: Record<string, string>
  body?: Blob | FormData | undefined
  onProgress?: ((bytesSent: number, total: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** The response to an HTTP request of an upload. `header` returns the value of a header. */
export interface UploadResponse {
  status: number
  header: (name: string) => string | undefined
  body: string
}

/**
 * Sends one request and reports how many bytes of its body have been sent, which `fetch` cannot
 * report.
 */
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
    request.onloadend = () => clearTimeout(stall)
    upload.signal?.addEventListener('abort', stop, { once: true })
    request.send(upload.body ?? null)
    if (upload.signal?.aborted) stop()
  })
}

/** Parses JSON. Returns undefined for any other text, such as the error page of a proxy. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
