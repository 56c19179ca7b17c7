import http from 'node:http'
import type { TestPerson } from '../app.ts'

interface SlowPatch {
  send(bytes: Uint8Array): void
  breakConnection(): void
  /** Status and error code of the answer. The status is 0 where the connection broke first. */
  answer: Promise<{ status: number; code: string | undefined; retryAfter: string | undefined }>
}

/**
 * Starts a PATCH whose body has `length` bytes, and sends only `first`. The test sends the other
 * bytes.
 */
export function startSlowPatch(
  port: number,
  person: TestPerson,
  upload: string,
  { offset, length, first }: { offset: number; length: number; first?: Uint8Array }
): SlowPatch {
  const outgoing = http.request({
    host: '127.0.0.1',
    port,
    agent: false,
    method: 'PATCH',
    path: upload,
    headers: {
      host: `api.${person.host}`,
      authorization: `Bearer ${person.token}`,
      'tus-resumable': '1.0.0',
      'upload-offset': String(offset),
      'content-type': 'application/offset+octet-stream',
      'content-length': String(length)
    }
  })
  outgoing.on('error', () => undefined)
  if (first) outgoing.write(first)
  else outgoing.flushHeaders()
  const answer = new Promise<Awaited<SlowPatch['answer']>>(resolve => {
    outgoing.once('close', () => resolve({ status: 0, code: undefined, retryAfter: undefined }))
    outgoing.once('response', async response => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString()
      const { statusCode: status = 0, headers } = response
      const code = text ? JSON.parse(text).code : undefined
      resolve({ status, code, retryAfter: headers['retry-after'] })
    })
  })
  return {
    send: bytes => void outgoing.write(bytes),
    breakConnection: () => void outgoing.destroy(),
    answer
  }
}
