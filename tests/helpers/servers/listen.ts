import type { AddressInfo, Server } from 'node:net'

/** Makes a server listen on a free port of the loopback address. Returns the port. */
export async function listenLocally(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port // as: a TCP server has such an address
}
