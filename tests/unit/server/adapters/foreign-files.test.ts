import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createForeignFiles } from '../../../../src/server/adapters/foreign-files.ts'

const piece = 5_000_000

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/list.csv`
}

interface Setting {
  allowsLoopback?: boolean
  resolve?: (host: string) => Promise<string[]>
  pieceMs?: number
  maxBytes?: number
  signal?: AbortSignal
}

/** Returns the file, or the code of the failure. */
async function fetchFile(address: string, setting: Setting = {}): Promise<Buffer | string> {
  const { maxBytes = 500_000_000, signal, ...others } = setting
  const files = createForeignFiles({
    allowsLoopback: true,
    ownAddresses: ['198.41.0.4'],
    ...others
  })
  const chunks: Uint8Array[] = []
  const totals = new Set<number | undefined>()
  const result = await files.fetch(address, {
    maxBytes,
    signal: signal ?? new AbortController().signal,
    async write(chunk, total) {
      chunks.push(Uint8Array.from(chunk))
      totals.add(total)
    }
  })
  if ('failure' in result) return result.failure
  const content = Buffer.concat(chunks)
  expect(content.length).toBe(result.bytes)
  for (const total of totals) expect([undefined, result.bytes]).toContain(total)
  return content
}

async function fetchedFrom(address: string): Promise<Buffer> {
  const found = await fetchFile(address)
  if (typeof found === 'string') throw new Error(found)
  return found
}

function rangeServer(
  content: Buffer,
  headers: (request: number) => Record<string, string> = () => ({ etag: '"1"' })
): { listener: RequestListener; asked: Record<string, unknown>[] } {
  const asked: Record<string, unknown>[] = []
  return {
    asked,
    listener: (request, response) => {
      const { range, 'if-range': version, 'accept-encoding': encoding } = request.headers
      asked.push({ range, version, encoding })
      const [, from = 0, to = 0] = (/bytes=(\d+)-(\d+)/.exec(range ?? '') ?? []).map(Number)
      const last = Math.min(to, content.length - 1)
      response.writeHead(206, {
        'content-range': `bytes ${from}-${last}/${content.length}`,
        ...headers(asked.length)
      })
      response.end(content.subarray(from, last + 1))
    }
  }
}

const content = Buffer.alloc(piece * 2 + 17, 'diploma;name\n')

describe('a file that is fetched from an address', () => {
  it('arrives in pieces of one version, without an encoding', async () => {
    const { listener, asked } = rangeServer(content)
    expect(content.equals(await fetchedFrom(await serve(listener)))).toBe(true)
    expect(asked).toEqual([
      { range: `bytes=0-${piece - 1}`, version: undefined, encoding: 'identity' },
      { range: `bytes=${piece}-${piece * 2 - 1}`, version: '"1"', encoding: 'identity' },
      { range: `bytes=${piece * 2}-${piece * 3 - 1}`, version: '"1"', encoding: 'identity' }
    ])
  })

  it('arrives whole from a server that knows no ranges', async () => {
    const address = await serve((_, response) => response.end(content))
    expect(content.equals(await fetchedFrom(address))).toBe(true)
  })

  it('is asked for whole where nothing names its version', async () => {
    const { listener, asked } = rangeServer(content, () => ({}))
    const address = await serve((request, response) => {
      if (request.headers.range) listener(request, response)
      else response.end(content)
    })
    expect(content.equals(await fetchedFrom(address))).toBe(true)
    expect(asked).toHaveLength(1)
  })

  it.each([
    ['has another version', (n: number) => ({ etag: `"${n}"` }), 'changed_meanwhile'],
    ['has only a weak version', (n: number) => ({ etag: `W/"${n}"` }), 'address_answer'],
    [
      'is modified',
      (n: number) => ({ 'last-modified': `Sat, 28 Nov 2026 06:00:0${n} GMT` }),
      'changed_meanwhile'
    ]
  ])('fails when a later piece %s', async (_, headers, code) => {
    const address = await serve(rangeServer(content, headers).listener)
    expect(await fetchFile(address)).toBe(code)
  })

  it('fails when the whole file comes instead of a later piece', async () => {
    const { listener, asked } = rangeServer(content)
    const address = await serve((request, response) => {
      if (asked.length === 0) listener(request, response)
      else response.end(content)
    })
    expect(await fetchFile(address)).toBe('changed_meanwhile')
  })

  it('is not limited by a slow writer, whose own errors it passes on', async () => {
    const address = await serve((_, response) => response.end(content))
    const files = createForeignFiles({ allowsLoopback: true, ownAddresses: [] })
    const full = new Error('no space left')
    const write = () => Promise.reject(full)
    const { signal } = new AbortController()
    await expect(files.fetch(address, { maxBytes: 1e9, signal, write })).rejects.toBe(full)
  })
})

describe('a server that misbehaves', () => {
  const answers: Record<string, [RequestListener, string]> = {
    'redirects to this machine': [
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
      'address_answer'
    ],
    'speaks of another protocol': [
      ({ socket }) => socket.write('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      'address_unreachable'
    ],
    'answers with an error': [(_, response) => response.writeHead(500).end(), 'address_answer'],
    'sends a bomb': [
      (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      'address_answer'
    ],
    'has an empty file': [(_, response) => response.end(), 'file_empty'],
    'has an empty file and knows ranges': [
      (_, response) => response.writeHead(416, { 'content-range': 'bytes */0' }).end(),
      'file_empty'
    ],
    'announces too many bytes': [
      (_, response) => response.writeHead(200, { 'content-length': '1001' }).flushHeaders(),
      'file_too_large'
    ],
    'never ends': [
      (_, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write('x'.repeat(100)), 1)
        response.once('close', () => clearInterval(timer))
      },
      'file_too_large'
    ],
    'ends before the announced length': [
      (_, response) => {
        response.writeHead(200, { 'content-length': '900' })
        response.write('x')
        setTimeout(() => response.destroy(), 20)
      },
      'address_unreachable'
    ],
    'sends another piece': [
      (_, response) =>
        response
          .writeHead(206, { etag: '"1"', 'content-range': 'bytes 100-199/900' })
          .end('x'.repeat(100)),
      'address_answer'
    ],
    'sends a shorter piece than it says': [
      (_, response) =>
        response
          .writeHead(206, { etag: '"1"', 'content-range': 'bytes 0-899/900' })
          .end('x'.repeat(100)),
      'address_answer'
    ],
    'sends a longer piece than it says': [
      (_, response) =>
        response
          .writeHead(206, { etag: '"1"', 'content-range': 'bytes 0-9/900' })
          .end('x'.repeat(100)),
      'address_answer'
    ],
    'sends one byte of each piece': [
      (_, response) =>
        response.writeHead(206, { etag: '"1"', 'content-range': 'bytes 0-0/900' }).end('x'),
      'address_answer'
    ],
    'sends a piece without a place': [
      (_, response) => response.writeHead(206, { etag: '"1"' }).end('x'),
      'address_answer'
    ],
    'has a larger file than allowed': [
      (_, response) =>
        response
          .writeHead(206, { etag: '"1"', 'content-range': 'bytes 0-9/1001' })
          .end('x'.repeat(10)),
      'file_too_large'
    ],
    'sends endless headers': [
      (_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end('x'),
      'address_unreachable'
    ]
  }

  it.each(Object.entries(answers))('%s', async (_, [listener, code]) => {
    const address = await serve(listener)
    expect(await fetchFile(address, { maxBytes: 1000 })).toBe(code)
  })

  it.each([
    ['before its answer', () => {}],
    [
      'drop by drop',
      (response: ServerResponse) => {
        response.writeHead(206, { etag: '"1"', 'content-range': 'bytes 0-899/900' })
        const timer = setInterval(() => response.write('x'), 10)
        response.once('close', () => clearInterval(timer))
      }
    ],
    [
      'behind a whole piece',
      (response: ServerResponse) => response.writeHead(200).write(Buffer.alloc(piece + 1))
    ]
  ])('is left when it is slow %s', async (_, answer) => {
    const address = await serve((_request, response) => void answer(response))
    const started = performance.now()
    expect(await fetchFile(address, { pieceMs: 300 })).toBe('address_unreachable')
    expect(performance.now() - started).toBeGreaterThan(290)
  })

  it('is left when the import is cancelled', async () => {
    const address = await serve((_, response) => response.writeHead(200).flushHeaders())
    const cancelled = new AbortController()
    setTimeout(() => cancelled.abort(new Error('cancelled')), 50)
    await expect(fetchFile(address, { signal: cancelled.signal })).rejects.toThrow('cancelled')
  })

  it('speaks no HTTP', async () => {
    const server = createSocketServer(socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => server.close())
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    expect(await fetchFile(address)).toBe('address_unreachable')
  })
})

// what must not be reached from outside, in the forms in which it can be written
const innerAddresses = [
  ...['0.0.0.0', '127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255'],
  ...['192.168.0.1', '169.254.169.254', '100.64.0.1', '100.127.255.255', '192.0.0.1', '192.0.2.1'],
  ...['198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.1.1.1', '240.0.0.1'],
  ...['255.255.255.255', '198.41.0.4', '::', '::1', '::127.0.0.1', '::7f00:1', '::ffff:127.0.0.1'],
  ...['::ffff:8.8.8.8', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1'],
  ...['2001::1', '2001:db8::1', '2001:10::1', '2002:7f00:1::1', 'fc00::1', 'fd12:3456::1'],
  ...['fe80::1', 'fec0::1', 'ff02::1', '4000::1', '5f00::1', 'e000::1']
]
const otherForms = ['2130706433', '0x7f000001', '0x7f.1', '127.1', '0177.0.0.1', '017700000001']
const dots = ['127。0。0。1', '１２７.0.0.1', '127.0.0.1.', 'localhost', 'LOCALHOST', 'a.localhost']

// G-07
describe('an address of this machine or its network', () => {
  const written = innerAddresses.map(each => (each.includes(':') ? `[${each}]` : each))
  it.each([...written, ...otherForms])('is refused: https://%s/', async host => {
    expect(await fetchFile(`https://${host}/list.csv`, { allowsLoopback: false })).toBe(
      'address_refused'
    )
  })

  it.each(dots)('is never reached: https://%s/', async host => {
    const resolve = async () => ['127.0.0.1']
    expect(await fetchFile(`https://${host}/list.csv`, { allowsLoopback: false, resolve })).toBe(
      'address_refused'
    )
  })

  it.each(innerAddresses)('is refused behind a name: %s', async address => {
    const resolve = async () => [address]
    expect(
      await fetchFile('https://example.com/list.csv', { allowsLoopback: false, resolve })
    ).toBe('address_refused')
  })

  it.each(innerAddresses)('refuses a name beside a public one: %s', async address => {
    const resolve = async () => ['8.8.8.8', address]
    expect(
      await fetchFile('https://example.com/list.csv', { allowsLoopback: false, resolve })
    ).toBe('address_refused')
  })

  it('stays refused when tests may use loopback, unless it is loopback', async () => {
    for (const host of ['10.0.0.1', '169.254.169.254', '[fd12::1]']) {
      expect(await fetchFile(`http://${host}/`)).toBe('address_refused')
    }
  })

  it('is not reached by a name that changes after it was checked', async () => {
    let requests = 0
    const address = await serve((_, response) => {
      requests += 1
      response.end('secret')
    })
    const { port } = new URL(address)
    let looked = 0
    const resolve = async () => {
      looked += 1
      return looked === 1 ? ['127.0.0.1'] : ['10.0.0.1']
    }
    await fetchFile(`http://rebinding.example:${port}/`, { resolve })
    expect([requests, looked]).toEqual([1, 1])
  })
})

it.each([
  'http://example.com/',
  'https://example.com:8443/',
  'https://user:secret@example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:text/csv,a',
  'javascript:1',
  'https:',
  'list.csv',
  ''
])('takes no other address: %s', async address => {
  expect(
    await fetchFile(address, { allowsLoopback: false, resolve: async () => ['8.8.8.8'] })
  ).toBe('address_refused')
})
