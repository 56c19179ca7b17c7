import { lookup as systemLookup } from 'node:dns/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { ForeignFileFailure, ForeignFiles } from '../domain/deps.ts'

// https://datatracker.ietf.org/doc/html/rfc9110#section-14 has ranges and If-Range
const pieceBytes = 5_000_000
const usualPieceMs = 60_000
const connectMs = 3_000

// says nothing about what lies behind the address
class ForeignFileError extends Error {
  readonly code: ForeignFileFailure

  constructor(code: ForeignFileFailure, options?: ErrorOptions) {
    super(code, options)
    this.code = code
  }
}

interface Options {
  /** For tests: also addresses of this machine, by http and on any port. */
  allowsLoopback: boolean
  /** Of this service, besides those of the machine's own interfaces. */
  ownAddresses: readonly string[]
  resolve?: (host: string) => Promise<string[]>
  /** The time for a piece. */
  pieceMs?: number
}

/**
 * Fetches files from addresses that people enter. Such an address must never reach what only this
 * machine or its network can reach, so each request connects to an address that was checked.
 */
export function createForeignFiles(options: Options): ForeignFiles {
  return {
    async fetch(address, receiver) {
      try {
        return { bytes: await fetchPieces(readAddress(address, options), options, receiver) }
      } catch (error) {
        if (error instanceof ForeignFileError) return { failure: error.code }
        throw error
      }
    }
  }
}

interface Receiver {
  maxBytes: number
  signal: AbortSignal
  write: (bytes: Uint8Array, total: number | undefined) => Promise<void>
}

type Destination = Omit<Receiver, 'signal'>

async function fetchPieces(url: URL, options: Options, receiver: Receiver): Promise<number> {
  const { signal } = receiver
  const first = await ask(url, options, { signal, range: { from: 0, if: undefined } })
  const version = versionOf(first.response)
  if (first.response.statusCode === 206 && version === undefined) {
    // without a version, pieces of two different files could not be told apart
    first.end()
    return receiveWhole(await ask(url, options, { signal }), receiver)
  }
  if (first.response.statusCode !== 206) return receiveWhole(first, receiver)
  let { to, total } = await receivePiece(first, { ...receiver, from: 0, total: undefined })
  while (to < total) {
    const next = await ask(url, options, { signal, range: { from: to, if: version } })
    if (next.response.statusCode !== 206 || versionOf(next.response) !== version) {
      next.end()
      throw new ForeignFileError('changed_meanwhile')
    }
    ;({ to, total } = await receivePiece(next, { ...receiver, from: to, total }))
  }
  return total
}

function readAddress(text: string, { allowsLoopback }: Options): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isUsual = url?.protocol === 'https:' && (url.port === '' || url.port === '443')
  const isForTests = allowsLoopback && (url?.protocol === 'http:' || url?.protocol === 'https:')
  if (!url || !(isUsual || isForTests) || url.username !== '' || url.password !== '') {
    throw new ForeignFileError('address_refused')
  }
  return url
}

interface Answer {
  response: IncomingMessage
  signal: AbortSignal
  // begins the time for the next piece
  renew: () => void
  end: () => void
}

async function ask(
  url: URL,
  options: Options,
  { signal, range }: { signal: AbortSignal; range?: { from: number; if: string | undefined } }
): Promise<Answer> {
  const isRefused = refusal(options)
  const { pieceMs = usualPieceMs } = options
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Node connects to an address without a look-up
  if (isIP(host) !== 0 && isRefused(host)) throw new ForeignFileError('address_refused')
  const headers = {
    'accept-encoding': 'identity',
    ...(range && { range: `bytes=${range.from}-${range.from + pieceBytes - 1}` }),
    ...(range?.if !== undefined && { 'if-range': range.if })
  }
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const asked = Promise.withResolvers<IncomingMessage>()
  const request = send(url, {
    // no connection is reused, and no proxy of the environment is asked
    agent: false,
    headers,
    lookup: checkedLookup(options.resolve ?? resolveAll, isRefused),
    maxHeaderSize: 16 * 1024,
    signal
  })
  const fail = () => request.destroy(new ForeignFileError('address_unreachable'))
  const connecting = setTimeout(fail, connectMs)
  let deadline = setTimeout(fail, pieceMs)
  const end = () => {
    clearTimeout(connecting)
    clearTimeout(deadline)
    request.destroy()
  }
  request.once('socket', socket =>
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () =>
      clearTimeout(connecting)
    )
  )
  request.once('response', asked.resolve)
  // later errors reach the reader of the response
  request.on('error', error => asked.reject(toForeignFileError(error, signal)))
  // an answer 101 ends the request without an error
  request.once('close', () => asked.reject(new ForeignFileError('address_unreachable')))
  request.end()
  try {
    const response = await asked.promise
    if ((response.headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new ForeignFileError('address_answer')
    }
    const renew = () => {
      clearTimeout(deadline)
      deadline = setTimeout(fail, pieceMs)
    }
    return { response, signal, renew, end }
  } catch (error) {
    end()
    throw error
  }
}

async function receiveWhole(answer: Answer, { maxBytes, write }: Destination): Promise<number> {
  const { response, end } = answer
  try {
    if (response.statusCode === 416) throw new ForeignFileError('file_empty')
    if (response.statusCode !== 200) throw new ForeignFileError('address_answer')
    const announced = lengthOf(response)
    if (announced !== undefined && announced > maxBytes)
      throw new ForeignFileError('file_too_large')
    const bytes = await receive(answer, { maxBytes, total: announced, write })
    if (bytes === 0) throw new ForeignFileError('file_empty')
    return bytes
  } finally {
    end()
  }
}

async function receivePiece(
  answer: Answer,
  { from, total, maxBytes, write }: Destination & { from: number; total: number | undefined }
): Promise<{ to: number; total: number }> {
  const { response, end } = answer
  try {
    const range = /^bytes (\d{1,12})-(\d{1,12})\/(\d{1,12})$/.exec(
      response.headers['content-range'] ?? ''
    )
    const [first, last, size] = (range ?? []).slice(1).map(Number)
    if (first === undefined || last === undefined || size === undefined) {
      throw new ForeignFileError('address_answer')
    }
    if (total !== undefined && size !== total) throw new ForeignFileError('changed_meanwhile')
    if (size > maxBytes) throw new ForeignFileError('file_too_large')
    // exactly what was asked for: with pieces of one byte, a server could take for ever
    const to = Math.min(from + pieceBytes, size)
    if (first !== from || last + 1 !== to || to === from) {
      throw new ForeignFileError('address_answer')
    }
    const place = { maxBytes: to - from, total: size, write }
    const bytes = await receive(answer, place, 'address_answer')
    if (bytes !== to - from) throw new ForeignFileError('address_answer')
    return { to, total: size }
  } finally {
    end()
  }
}

async function receive(
  { response, signal, renew }: Answer,
  { maxBytes, total, write }: Destination & { total: number | undefined },
  tooMany: ForeignFileFailure = 'file_too_large'
): Promise<number> {
  let bytes = 0
  let renewedAt = 0
  const announced = lengthOf(response)
  for await (const chunk of chunksOf(response, signal)) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new ForeignFileError(tooMany)
    if (bytes - renewedAt >= pieceBytes) {
      renewedAt = bytes
      renew()
    }
    await write(chunk, total)
  }
  if (announced !== undefined && announced !== bytes) throw new ForeignFileError('address_answer')
  return bytes
}

function lengthOf({ headers }: IncomingMessage): number | undefined {
  const text = headers['content-length']
  return text === undefined ? undefined : Number(text)
}

// weak tags do not say that the bytes are equal
function versionOf({ headers }: IncomingMessage): string | undefined {
  const { etag, 'last-modified': modified } = headers
  return etag?.startsWith('"') ? etag : modified
}

// apart from the loop over it, whose own errors are not those of the connection
async function* chunksOf(
  response: IncomingMessage,
  signal: AbortSignal
): AsyncGenerator<Buffer, void> {
  try {
    yield* response as AsyncIterable<Buffer>
  } catch (error) {
    throw toForeignFileError(error, signal)
  }
}

function toForeignFileError(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  // the look-up throws one that Node passes on
  if (cause instanceof ForeignFileError) return cause
  return new ForeignFileError('address_unreachable', { cause })
}

// One refused address refuses the host, because Node may try any of them.
function checkedLookup(
  resolve: (host: string) => Promise<string[]>,
  isRefused: (address: string) => boolean
): LookupFunction {
  return (host, { all }, callback) => {
    resolve(host).then(
      addresses => {
        const [first] = addresses
        if (first === undefined) return callback(new ForeignFileError('address_unreachable'), '')
        if (addresses.some(isRefused)) return callback(new ForeignFileError('address_refused'), '')
        if (all)
          callback(
            null,
            addresses.map(address => ({ address, family: isIP(address) }))
          )
        else callback(null, first, isIP(first))
      },
      (cause: unknown) => callback(new ForeignFileError('address_unreachable', { cause }), '')
    )
  }
}

async function resolveAll(host: string): Promise<string[]> {
  return (await systemLookup(host, { all: true })).map(({ address }) => address)
}

function refusal({ allowsLoopback, ownAddresses }: Options): (address: string) => boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  const own = new Set(
    [...ownAddresses, ...interfaces.map(({ address }) => address)].map(normalized)
  )
  return text => {
    if (!ipaddr.isValid(text)) return true
    const address = ipaddr.parse(text)
    if (allowsLoopback && address.range() === 'loopback') return false
    return !isPublic(address) || own.has(address.toNormalizedString())
  }
}

// The library takes `::127.0.0.1` and much that is not assigned yet for public, so only 2000::/3 is.
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(ipaddr.IPv6.parseCIDR('2000::/3'))
}

function normalized(text: string): string {
  return ipaddr.isValid(text) ? ipaddr.parse(text).toNormalizedString() : text
}
