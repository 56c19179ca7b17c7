import { createHash } from 'node:crypto'
import {
  MaxFileSizeExceededError,
  MaxPartsExceededError,
  MultipartParseError,
  MultipartParser,
  type MultipartPart
} from '@remix-run/multipart-parser'
import type * as z from 'zod/mini'
import { BatchItem, createDepositBatch } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import {
  maxBytesPerBatchFile,
  maxDepositBatchBodyBytes,
  maxFilesPerDepositBatch
} from '../../contract/kit/limits.ts'
import { toProblem } from '../../contract/kit/problems.ts'
import {
  createDeposits,
  type DepositAnswer,
  depositKeyRoute,
  withMediaTypeByName
} from '../domain/deposits/intake.ts'
import type { CompanyId, Deps, StagedFileId } from '../domain/deps.ts'
import { newRandomId } from '../domain/ids.ts'
import { apiKeyOrPersonIdOf } from '../domain/sessions/sessions.ts'
import { type Api, type ApiContext, authenticatedCaller, hostCompanyId } from './kit/context.ts'
import {
  defaultMaxBodyBytes,
  mountNonJsonEndpoint,
  parseJson,
  readBodyChunks
} from './kit/mount.ts'
import { invalidFieldError, parseFields } from './kit/refused-fields.ts'

const maxHeaderBytes = 2048
// without joining, a million tiny chunks would need far more memory than the bytes in them
const joinedBytes = 64 * 1024

type Item = z.output<typeof BatchItem>

interface Received {
  item: Item
  staged: StagedFileId
}

// only these files, and the one whose bytes are arriving, are in memory
const writesAtOnce = 4

export function mountDepositBatch(app: Api): void {
  mountNonJsonEndpoint(app, createDepositBatch, async (_input, c) => {
    const deps = c.get('deps')
    const company_id = hostCompanyId(c)
    const user_id = authenticatedCaller(c).id
    const actor = apiKeyOrPersonIdOf(authenticatedCaller(c))
    const staged: StagedFileId[] = []
    const place = c.get('place')
    place?.countBatch(user_id)
    try {
      const read = () => receive(c, staged)
      const received = await (place?.outside(read) ?? read())
      const items = received.flatMap(each => {
        if (each instanceof AppError) return []
        const { key, ...deposit } = each.item
        return [{ key, deposit: withMediaTypeByName(deposit), staged: each.staged }]
      })
      const by = { company_id, user_id, actor, route: depositKeyRoute }
      const answers = (await createDeposits(deps, by, items)).values()
      const results = received.map(each =>
        resultOf(each instanceof AppError ? each : answers.next().value)
      )
      return c.json(createDepositBatch.message.parse({ results }))
    } finally {
      // deposited files have been moved, so nothing is left of them here
      for (const file of staged) await discard(deps, file)
    }
  })
}

// adds each written file to `staged`; returns an error in place of each refused item
async function receive(c: ApiContext, staged: StagedFileId[]): Promise<(Received | AppError)[]> {
  const deps = c.get('deps')
  const company_id = hostCompanyId(c)
  const received: Promise<Received | AppError>[] = []
  const writing = new Set<Promise<unknown>>()
  let items: (Item | AppError)[] | undefined
  try {
    for await (const part of partsOf(c)) {
      if (!items) {
        items = itemsOf(part)
        continue
      }
      const item = items[received.length]
      if (item === undefined) throw refusedForm(`as many files as items, which are ${items.length}`)
      if (part.name !== 'file') throw refusedForm('files in parts with the name file')
      const write = stage(deps, company_id, { item, part, staged })
      received.push(write)
      writing.add(write)
      void write.finally(() => writing.delete(write))
      if (writing.size === writesAtOnce) await Promise.race(writing)
    }
  } finally {
    await Promise.all(writing) // before the files of a broken call are deleted
  }
  if (!items) throw refusedForm('the part items')
  if (received.length < items.length) {
    throw refusedForm(`as many files as items, which are ${items.length}`)
  }
  return Promise.all(received)
}

async function* partsOf(c: ApiContext): AsyncGenerator<MultipartPart, void> {
  const type = c.req.header('content-type') ?? ''
  const boundary =
    /^multipart\/form-data *;(?:.*;)? *boundary=(?:"([^"]{1,70})"|([^";, ]{1,70}))/i.exec(type)
  if (!boundary || c.req.header('content-encoding')) {
    throw new AppError('unsupported_media_type', 'The body must be plain multipart/form-data')
  }
  const parser = new MultipartParser(boundary[1] ?? boundary[2] ?? '', {
    maxHeaderSize: maxHeaderBytes,
    maxFileSize: maxBytesPerBatchFile,
    maxParts: maxFilesPerDepositBatch + 1,
    maxTotalSize: maxDepositBatchBodyBytes
  })
  try {
    for await (const chunk of joined(readBodyChunks(c, maxDepositBatchBodyBytes)))
      yield* parser.write(chunk)
    parser.finish()
  } catch (error) {
    if (error instanceof MaxPartsExceededError) throw tooManyItems()
    if (error instanceof MaxFileSizeExceededError) {
      throw new AppError(
        'body_too_large',
        `A file of a batch has at most ${maxBytesPerBatchFile} bytes`
      )
    }
    if (error instanceof MultipartParseError) throw refusedForm('a whole form', error)
    throw error
  }
}

async function* joined(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes < joinedBytes && waiting.length < joinedBytes / 16) continue
    yield waiting.length === 1 ? chunk : Buffer.concat(waiting)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}

function itemsOf(part: MultipartPart): (Item | AppError)[] {
  if (part.name !== 'items') throw refusedForm('the part items before the files')
  if (part.size > defaultMaxBodyBytes) {
    throw new AppError('body_too_large', `The part items is over ${defaultMaxBodyBytes} bytes`)
  }
  const given = parseJson(part.bytes)
  if (!Array.isArray(given) || given.length === 0) throw refusedForm('a list of items')
  if (given.length > maxFilesPerDepositBatch) throw tooManyItems()
  return given.map(each => {
    const item = parseFields(BatchItem, each)
    return item.success ? item.data : item.error
  })
}

async function stage(
  deps: Deps,
  company_id: CompanyId,
  { item, part, staged }: { item: Item | AppError; part: MultipartPart; staged: StagedFileId[] }
): Promise<Received | AppError> {
  if (item instanceof AppError) return item
  const { bytes } = part
  if (bytes.length === 0 && item.size === 0) {
    return new AppError('file_empty', 'An empty file cannot be deposited')
  }
  const digest = createHash('sha256').update(bytes).digest('hex')
  if (bytes.length !== item.size || digest !== item.stored) {
    return new AppError('transfer_corrupt', 'The bytes do not have the announced fingerprint')
  }
  const file = { company_id, id: newRandomId(deps), generation: 0 }
  staged.push(file)
  try {
    await deps.blobs.stage(company_id, file.id, bytes)
    return { item, staged: file }
  } catch (error) {
    deps.log.error({ err: error }, 'a file of a batch could not be written')
    return new AppError('not_stored', 'The file could not be written', { cause: error })
  }
}

function resultOf(answer: DepositAnswer | undefined): object {
  if (!answer) throw new Error('an item was left without an answer')
  if (!(answer instanceof AppError)) {
    return { ...answer.body, ...(answer.replayed ? { replayed: true } : {}) }
  }
  const { retryAfter } = answer
  const retry = retryAfter === undefined ? {} : { retry_after: retryAfter }
  return { problem: { ...toProblem(answer), ...retry } }
}

async function discard(deps: Deps, file: StagedFileId): Promise<void> {
  // a file that could not be deleted is deleted a day later by a job
  await deps.blobs.discardStaged(file).catch((error: unknown) => {
    deps.log.warn(
      { company: file.company_id, err: error },
      'a temporary file could not be deleted: a job deletes it a day later'
    )
  })
}

function tooManyItems(): AppError {
  return new AppError('too_many_items', `A batch has at most ${maxFilesPerDepositBatch} files`)
}

function refusedForm(detail: string, cause?: unknown): AppError {
  return invalidFieldError('(body)', { rule: 'format', detail }, cause)
}
