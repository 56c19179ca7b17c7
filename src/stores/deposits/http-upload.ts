import type { HttpRequest, HttpStack } from 'tus-js-client'

/** A connection that moves no byte for this long is taken for cut. */
const stallMilliseconds = 60_000

export interface HttpUpload {
  method: string
  uri: string
  headers: Record<string, string>
  body?: Blob | undefined
  onProgress?: ((bytesSent: number) => void) | undefined
  signal?: AbortSignal | undefined
}

export interface HttpAnswer {
  status: number
  header: (name: string) => string | undefined
  body: string
}

/** Sends one request and tells how many bytes of its body are on the way, which `fetch` cannot. */
export function httpUpload(upload: HttpUpload): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const stop = () => request.abort()
    let stall = setTimeout(stop, stallMilliseconds)
    const alive = () => {
      clearTimeout(stall)
      stall = setTimeout(stop, stallMilliseconds)
    }
    request.open(upload.method, upload.uri)
    for (const [name, value] of Object.entries(upload.headers))
      request.setRequestHeader(name, value)
    request.upload.onprogress = event => {
      alive()
      upload.onProgress?.(event.loaded)
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
    upload.signal?.addEventListener('abort', stop, { once: true })
    request.send(upload.body ?? null)
    if (upload.signal?.aborted) stop()
  })
}

/** The same as the HTTP layer of the upload library. */
export function httpStack(send: typeof httpUpload): HttpStack {
  return {
    getName: () => 'http-upload',
    createRequest: (method, uri) => createRequest(send, method, uri)
  }
}

function createRequest(send: typeof httpUpload, method: string, uri: string): HttpRequest {
  const headers: Record<string, string> = {}
  const stop = new AbortController()
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
    send: async (body: Blob | null) => {
      const { signal } = stop
      const answer = await send({
        method,
        uri,
        headers,
        body: body ?? undefined,
        onProgress,
        signal
      })
      return {
        getStatus: () => answer.status,
        getHeader: answer.header,
        getBody: () => answer.body,
        getUnderlyingObject: () => answer
      }
    },
    abort: async () => stop.abort(),
    getUnderlyingObject: () => undefined
  }
}
