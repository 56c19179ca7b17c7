import { createServer } from 'node:http'
import { listenLocally } from '../../tests/helpers/servers/listen.ts'

/** Starts a `node:http` server that answers every request with the same headers and bytes. */
export async function servePage(page: { headers: Record<string, string>; body: Uint8Array }) {
  const server = createServer((_request, response) => {
    response.writeHead(200, page.headers)
    response.end(page.body)
  })
  const port = await listenLocally(server)
  return async () => ({ port })
}
