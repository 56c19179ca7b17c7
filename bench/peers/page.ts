import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a `node:http` server that answers every request with the same headers and bytes. */
export async function servePage(page: { headers: Record<string, string>; body: Uint8Array }) {
  const server = createServer((_request, response) => {
    response.writeHead(200, page.headers)
    response.end(page.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // as: it listens on a port
  return async () => ({ port })
}
