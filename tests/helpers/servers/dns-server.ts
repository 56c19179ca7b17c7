import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/** How the test server answers a query for the TXT records of a name. */
export type TxtAnswer =
  /** TXT records, each a list of strings. */
  | { txt: string[][] }
  /** A CNAME record that leads to another name, and the TXT records of that name. */
  | { cname: string; txt: string[][] }
  /** The IPv4 addresses of the name. */
  | { a: string[] }
  /** Over UDP, the answer is empty and marked as truncated. Over TCP, it contains these records. */
  | { truncated: string[][] }
  | 'no name'
  | 'no record'
  | 'server failure'
  | 'refused'
  | 'silence'

const codes = { 'server failure': 2, 'no name': 3, refused: 5, 'no record': 0 }

/**
 * Starts a DNS server on the loopback address, over UDP and TCP, on a free port unless one is
 * given. Unknown names do not exist.
 */
export async function startDnsServer({ port = 0 } = {}) {
  const zone = new Map<string, TxtAnswer>()
  const asked: { name: string; over: 'udp' | 'tcp' }[] = []

  function answer(query: Buffer, over: 'udp' | 'tcp'): Buffer | undefined {
    const { name, end } = readName(query, 12)
    asked.push({ name, over })
    const found = zone.get(name.toLowerCase()) ?? 'no name'
    if (found === 'silence') return undefined
    const records = recordsOf(found, over)
    const isCut = over === 'udp' && typeof found === 'object' && 'truncated' in found
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    // an authoritative answer to a recursive question
    header.writeUInt16BE(0x8580 | (isCut ? 0x0200 : 0) | codeOf(found), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    return Buffer.concat([header, query.subarray(12, end + 4), ...records])
  }

  const tcp = createServer(socket => {
    let received = Buffer.alloc(0)
    socket.on('error', () => socket.destroy())
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        const reply = answer(received.subarray(2, end), 'tcp')
        received = received.subarray(end)
        if (!reply) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(reply.length)
        socket.write(Buffer.concat([length, reply]))
      }
    })
  })
  await new Promise<void>(resolve => tcp.listen(port, '127.0.0.1', resolve))
  const place = tcp.address()
  if (place === null || typeof place === 'string') throw new Error('the DNS server has no port')
  const udp = createSocket('udp4')
  udp.on('message', (query, from) => {
    const reply = answer(query, 'udp')
    if (reply) udp.send(reply, from.port, from.address)
  })
  await new Promise<void>(resolve => udp.bind(place.port, '127.0.0.1', resolve))

  return {
    address: `127.0.0.1:${place.port}`,
    asked,
    set(name: string, found: TxtAnswer) {
      zone.set(name.toLowerCase(), found)
    },
    delete(name: string) {
      zone.delete(name.toLowerCase())
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([
        new Promise<void>(resolve => udp.close(resolve)),
        new Promise(resolve => tcp.close(resolve))
      ])
    }
  }
}

export type DnsServer = Awaited<ReturnType<typeof startDnsServer>>

function codeOf(found: TxtAnswer): number {
  return typeof found === 'string' && found !== 'silence' ? codes[found] : 0
}

function recordsOf(found: TxtAnswer, over: 'udp' | 'tcp'): Buffer[] {
  if (typeof found === 'string') return []
  if ('a' in found) {
    return found.a.map(address => record(pointer, 1, Buffer.from(address.split('.').map(Number))))
  }
  if ('truncated' in found) {
    return over === 'udp'
      ? []
      : found.truncated.map(strings => record(pointer, 16, textOf(strings)))
  }
  if (!('cname' in found)) return found.txt.map(strings => record(pointer, 16, textOf(strings)))
  const target = writeName(found.cname)
  return [
    record(pointer, 5, target),
    ...found.txt.map(strings => record(target, 16, textOf(strings)))
  ]
}

/** DNS compression pointer to the name in the question. */
const pointer = Buffer.from([0xc0, 12])

function record(name: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  // an hour: who remembers answers would fail the tests
  fixed.writeUInt32BE(3600, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([name, fixed, data])
}

function textOf(strings: string[]): Buffer {
  return Buffer.concat(
    strings.flatMap(text => [Buffer.from([Buffer.byteLength(text)]), Buffer.from(text)])
  )
}

function writeName(name: string): Buffer {
  const labels = name.split('.').flatMap(label => [Buffer.from([label.length]), Buffer.from(label)])
  return Buffer.concat([...labels, Buffer.from([0])])
}

function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = []
  let at = start
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString())
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 1 }
}
