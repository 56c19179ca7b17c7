import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type * as z from 'zod/mini'
import { createDepositBatch } from '../../../src/contract/deposits.ts'
import type { TestApp, TestPerson } from '../app.ts'

export const formBoundary = 'batch-of-a-test'
export const batchContentType = `multipart/form-data; boundary=${formBoundary}`

export type BatchResults = z.output<typeof createDepositBatch.message>['results']

/** Returns the body of a batch as form data. `items` is written as JSON and may be invalid. */
export function batchForm(items: unknown, files: readonly Uint8Array[]): Buffer {
  const text = typeof items === 'string' ? items : JSON.stringify(items)
  return Buffer.concat([
    formPart('items', Buffer.from(text)),
    ...files.map(bytes => formPart('file', bytes)),
    Buffer.from(`--${formBoundary}--\r\n`)
  ])
}

export function formPart(name: string, bytes: Uint8Array): Buffer {
  const filename = name === 'file' ? '; filename="blob"' : ''
  return Buffer.concat([
    Buffer.from(
      `--${formBoundary}\r\ncontent-disposition: form-data; name="${name}"${filename}\r\n\r\n`
    ),
    bytes,
    Buffer.from('\r\n')
  ])
}

/** Returns an item as a browser sends it. `change` replaces some of its fields. */
export function batchItem(bytes: Uint8Array, change: Record<string, unknown> = {}) {
  const digest = createHash('sha256').update(bytes).digest('hex')
  return {
    key: randomUUID(),
    name: 'small.pdf',
    size: bytes.length,
    media_type: 'application/pdf',
    original: digest,
    stored: digest,
    ...change
  }
}

/** Returns `count` files of different bytes and lengths, with their items. */
export function smallFiles(count: number, change: Record<string, unknown> = {}) {
  const files = Array.from({ length: count }, (_, at) => randomBytes(1000 + at))
  const items = files.map((bytes, at) => batchItem(bytes, { name: `small ${at}.pdf`, ...change }))
  return { files, items }
}

export async function postBatch(
  app: TestApp,
  person: Pick<TestPerson, 'host' | 'token'>,
  body: Uint8Array,
  headers: Record<string, string> = {}
) {
  const answer = await app.request(`api.${person.host}`, {
    method: 'POST',
    path: createDepositBatch.path,
    headers: {
      authorization: `Bearer ${person.token}`,
      'content-type': batchContentType,
      'content-length': String(body.length),
      ...headers
    },
    body
  })
  return { status: answer.status, headers: answer.headers, body: JSON.parse(String(answer.body)) }
}

/** Sends a batch that the server must accept. Returns the results of its items. */
export async function postAcceptedBatch(
  app: TestApp,
  person: Pick<TestPerson, 'host' | 'token'>,
  items: unknown,
  files: readonly Uint8Array[]
): Promise<BatchResults> {
  const { status, body } = await postBatch(app, person, batchForm(items, files))
  if (status !== 200) throw new Error(`the batch answered ${status}: ${JSON.stringify(body)}`)
  return createDepositBatch.message.parse(body).results
}
