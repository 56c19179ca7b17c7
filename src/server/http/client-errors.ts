import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, type ErrorCode } from '../../contract/kit/errors.ts'
import { toProblem } from '../../contract/kit/problems.ts'

const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout'
}

const sentences: Partial<Record<ErrorCode, string>> = {
  headers_too_large: 'The head of a request has at most 16 kB',
  request_timeout: 'The head of the request came too slowly'
}

export function addParseErrorHandler(server: Server, headers: Record<string, string>): void {
  const underWay = new WeakMap<Duplex, Set<ServerResponse>>()
  const follow = ({ socket }: { socket: Duplex }, response: ServerResponse) => {
    const responses = underWay.get(socket) ?? new Set()
    underWay.set(socket, responses.add(response))
    response.once('close', () => responses.delete(response))
  }
  server.on('request', follow)
  server.on('checkContinue', follow)
  server.on('clientError', (error: Error & { code?: string; rawPacket?: Buffer }, socket) => {
    // a response is already being written on this connection
    const hasBegun = [...(underWay.get(socket) ?? [])].some(({ headersSent }) => headersSent)
    if (!socket.writable || hasBegun || error.code === 'ECONNRESET') return void socket.destroy()
    const code = codes[error.code ?? ''] ?? 'malformed_request'
    const refusal = new AppError(code, sentences[code] ?? 'This is no well-formed HTTP')
    socket.end(answerOf(refusal, headers, isForApi(error.rawPacket)), () => socket.destroy())
  })
}

function answerOf(refusal: AppError, headers: Record<string, string>, hasProblem: boolean): string {
  const words = STATUS_CODES[refusal.status] ?? ''
  const body = hasProblem ? JSON.stringify(toProblem(refusal)) : `${words}\n`
  const all = {
    ...headers,
    'content-type': hasProblem ? 'application/problem+json' : 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    date: new Date().toUTCString(),
    connection: 'close'
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${refusal.status} ${words}\r\n${lines.join('')}\r\n${body}`
}

function isForApi(packet: Buffer | undefined): boolean {
  return /\r\nhost:[ \t]{0,9}api\./i.test(packet?.toString('latin1', 0, 65_536) ?? '')
}
