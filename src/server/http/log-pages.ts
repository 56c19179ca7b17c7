import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../contract/kit/errors.ts'
import { parseCheckpoint } from '../../core/evidence/checkpoints.ts'
import { parseLeaf } from '../../core/evidence/leaves.ts'
import {
  cutEntries,
  parseEntries,
  parseTilePath,
  type TileFile,
  tileWidth
} from '../../core/evidence/tiles.ts'
import type { TenantCache } from '../domain/companies/served-hosts.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { readCurrentLog } from '../domain/evidence/logs.ts'
import type { Gate } from './gate.ts'
import { type ClientAddressReader, sendHostError } from './hosts.ts'

/** Answers what is asked below `/log/` and `/logs/`. */
export interface LogPages {
  /** `host` must be normalized. */
  answer(request: IncomingMessage, response: ServerResponse, host: string): Promise<void>
}

export interface LogPagesOptions {
  deps: Pick<Deps, 'db' | 'logFiles'>
  tenants: Pick<TenantCache, 'resolve'>
  gate: Pick<Gate, 'enter'>
  addressOf: ClientAddressReader
  headers: Record<string, string>
  /** Of bodies that slow readers have not taken yet. */
  maxSendingBytes?: number
}

interface LogFile {
  body: Uint8Array | string
  type: string
  cache: string
}

const methods = 'GET, HEAD, OPTIONS'
const hashBytes = 32

/**
 * The published files of logs (C2SP tlog-tiles): of any log of ours below `/logs/<log id>/`, because
 * hosts move, and of the current log of the host's company below `/log/`.
 */
export function createLogPages(options: LogPagesOptions): LogPages {
  const { tenants, gate, addressOf, headers, maxSendingBytes = 64 * 1024 * 1024 } = options
  const { db, logFiles } = options.deps
  const send = createSender(maxSendingBytes)
  const publicHeaders = {
    ...headers,
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin'
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    company: CompanyId
  ): Promise<void> {
    const { method = '', url = '' } = request
    if (method === 'OPTIONS') {
      response.writeHead(204, {
        ...publicHeaders,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': '*',
        'access-control-max-age': '86400'
      })
      return void response.end()
    }
    if (method !== 'GET' && method !== 'HEAD') {
      throw new AppError('method_not_allowed', `Files of logs answer ${methods}`)
    }
    const { body, type, cache } = await find(url, company)
    response.writeHead(200, {
      ...publicHeaders,
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': cache
    })
    if (method === 'HEAD') response.end()
    else send(response, body)
  }

  // paths with queries or in another spelling are not found, so that no cache has a file twice
  async function find(path: string, company: CompanyId): Promise<LogFile> {
    const [, named, name = ''] = /^\/(?:logs\/([0-9a-f]{64})|log)\/([\w./]+)$/.exec(path) ?? []
    const tile = parseTilePath(name)
    if (!tile && name !== 'checkpoint' && name !== 'policy') throw notFoundError()
    const log = named ?? (await readCurrentLog(db, company))
    const checkpoint = await logFiles.readCheckpoint(log)
    if (checkpoint === undefined) throw notFoundError()
    if (tile) {
      if (!isCovered(tile, Number(parseCheckpoint(checkpoint).size))) throw notFoundError()
      const body = await readTileFile(log, tile)
      // the path of an alias is that of another log once the host moves or the log is retired
      const cache = named ? 'public, max-age=31536000, immutable' : 'no-cache'
      return { body, type: 'application/octet-stream', cache }
    }
    const type = 'text/plain; charset=utf-8'
    if (name === 'checkpoint') return { body: checkpoint, type, cache: 'no-cache' }
    return { body: await readPolicy(log), type, cache: 'public, max-age=60' }
  }

  // exactly the width that is asked for, although the file may have grown since
  async function readTileFile(log: string, file: TileFile): Promise<Uint8Array> {
    const bytes =
      file.kind === 'entries'
        ? await logFiles.readEntries(log, file.index)
        : await logFiles.readTile(log, file.tile)
    const isWhole = bytes && (file.kind === 'entries' || bytes.length >= file.width * hashBytes)
    if (!isWhole) throw new AppError('unavailable', 'A published file of a log is missing')
    const cut =
      file.kind === 'entries'
        ? cutEntries(bytes, file.width)
        : bytes.subarray(0, file.width * hashBytes)
    // a copy, because a slow reader would keep the rest in memory as well
    return cut.slice()
  }

  async function readPolicy(log: string): Promise<string> {
    const first = await readTileFile(log, { kind: 'entries', index: 0, width: 1 })
    const [text = ''] = parseEntries(first)
    const leaf = parseLeaf(text)
    if (leaf.type !== 'policy') throw new Error(`log ${log} does not begin with its policy`)
    return `log ${leaf.key.text}\nquorum none\n`
  }

  function refuse(response: ServerResponse, { status, code, message, retryAfter }: AppError): void {
    response.writeHead(status, {
      ...publicHeaders,
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      // otherwise an unread body would block the connection
      ...(code === 'method_not_allowed' ? { allow: methods, connection: 'close' } : {})
    })
    response.end(`${code}: ${message}\n`)
  }

  return {
    async answer(request, response, host) {
      const tenant = await tenants.resolve(host)
      if (!tenant) return sendHostError(response, 421, headers)
      const company = tenant.company_id
      try {
        const place = await gate.enter({ company, address: addressOf(request), client: response })
        try {
          await answer(request, response, company)
        } finally {
          place.end()
        }
      } catch (error) {
        // the listener counts refusals for the moment
        if (!(error instanceof AppError) || error.status >= 500) throw error
        refuse(response, error)
      }
    }
  }
}

/** A tile is covered if all hashes up to its width are those of complete trees below. */
function isCovered(file: TileFile, size: number): boolean {
  const { level, index } = file.kind === 'entries' ? { level: 0, index: file.index } : file.tile
  return index * tileWidth + file.width <= Math.floor(size / tileWidth ** level)
}

function notFoundError(): AppError {
  return new AppError('not_found', 'The log has not published such a file')
}

// Readers that take nothing would fill the memory. When bodies take up too much, those that have been
// on their way for the longest are given up.
function createSender(maxBytes: number) {
  const sending = new Map<ServerResponse, number>()
  let bytes = 0
  const forget = (response: ServerResponse) => {
    bytes -= sending.get(response) ?? 0
    sending.delete(response)
  }
  return (response: ServerResponse, body: Uint8Array | string) => {
    const length = Buffer.byteLength(body)
    sending.set(response, length)
    bytes += length
    response.once('close', () => forget(response))
    response.end(body)
    for (const oldest of sending.keys()) {
      if (bytes <= maxBytes || oldest === response) break
      forget(oldest)
      oldest.destroy()
    }
  }
}
