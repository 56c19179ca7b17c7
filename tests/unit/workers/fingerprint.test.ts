import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  createJavaScriptHasher,
  fingerprintFile,
  fingerprintInPieces,
  maxFileBytesForBrowserDigest,
  minFileBytesForHashLock
} from '../../../src/workers/fingerprint.ts'

const piece = 4 * 1024 * 1024

const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

test.each([0, 1, 63, 64, 65, piece - 1, piece, piece + 1, 2 * piece, 2 * piece + 12_345])(
  'agrees with another implementation at %d bytes: the browser’s own, WASM and plain JavaScript',
  async size => {
    const bytes = randomBytes(size)
    const expected = createHash('sha256').update(bytes).digest('hex')
    const file = new Blob([bytes])
    expect(await fingerprintFile(file)).toBe(expected)
    expect(await fingerprintInPieces(file)).toBe(expected)
    const startHasher = async () => createJavaScriptHasher()
    expect(await fingerprintInPieces(file, { startHasher })).toBe(expected)
  }
)

test('knows the fingerprint of nothing', async () => {
  expect(await fingerprintFile(new Blob([]))).toBe(empty)
})

test.each([
  ['the browser', fingerprintFile, [piece + 5]],
  ['the stream', fingerprintInPieces, [piece, piece + 5]]
])('tells how many bytes %s has done, ending with all', async (_who, hash, expected) => {
  const told: number[] = []
  const file = new Blob([randomBytes(piece + 5)])
  await hash(file, { onProgress: bytesDone => told.push(bytesDone) })
  expect(told).toEqual(expected)
})

test('leaves a file to the browser up to 32 MB, and where the browser has a digest', async () => {
  const sizes: number[] = []
  const subtle = {
    digest: async (_name: unknown, bytes: BufferSource) => {
      sizes.push(bytes.byteLength)
      return new ArrayBuffer(32)
    }
  }
  const largest = new Blob([Buffer.alloc(maxFileBytesForBrowserDigest)])
  const larger = new Blob([Buffer.alloc(maxFileBytesForBrowserDigest + 1)])
  expect(await fingerprintFile(largest, {}, { subtle, locks: freeLock() })).toBe('00'.repeat(32))
  expect(await fingerprintFile(larger, {}, { subtle })).toBe(await fingerprintInPieces(larger))
  expect(await fingerprintFile(new Blob([]), {}, {})).toBe(empty)
  expect(sizes).toEqual([maxFileBytesForBrowserDigest])
})

test('hashes one large file at a time as a whole, and small files beside it', async () => {
  const digested: number[] = []
  const { promise: slow, resolve: finish } = Promise.withResolvers<void>()
  const subtle = {
    digest: async (_name: unknown, bytes: BufferSource) => {
      digested.push(bytes.byteLength)
      if (bytes.byteLength > minFileBytesForHashLock) await slow
      return new ArrayBuffer(32)
    }
  }
  const platform = { subtle, locks: freeLock() }
  const large = new Blob([Buffer.alloc(minFileBytesForHashLock + 1)])
  const other = new Blob([Buffer.alloc(minFileBytesForHashLock)])
  const small = new Blob([Buffer.alloc(minFileBytesForHashLock - 1)])
  const first = fingerprintFile(large, {}, platform)
  expect(await fingerprintFile(other, {}, platform)).toBe(await fingerprintInPieces(other))
  expect(await fingerprintFile(small, {}, platform)).toBe('00'.repeat(32))
  finish()
  await first
  await fingerprintFile(other, {}, platform)
  expect(digested).toEqual([large.size, small.size, other.size])
})

test('hashes a large file in pieces where the browser has or gives no locks', async () => {
  const subtle = { digest: async () => new ArrayBuffer(32) }
  const refusing = { request: () => Promise.reject(new DOMException('sandbox', 'SecurityError')) }
  const large = new Blob([Buffer.alloc(minFileBytesForHashLock)])
  const expected = await fingerprintInPieces(large)
  expect(await fingerprintFile(large, {}, { subtle, locks: undefined })).toBe(expected)
  expect(await fingerprintFile(large, {}, { subtle, locks: refusing })).toBe(expected)
})

test('lets the next large file have its turn after one that failed', async () => {
  const locks = freeLock()
  const digest = async () => new ArrayBuffer(32)
  const short = new Blob([Buffer.alloc(minFileBytesForHashLock)])
  short.arrayBuffer = async () => new ArrayBuffer(7)
  await expect(fingerprintFile(short, {}, { subtle: { digest }, locks })).rejects.toThrow('shorter')
  const next = new Blob([Buffer.alloc(minFileBytesForHashLock)])
  expect(await fingerprintFile(next, {}, { subtle: { digest }, locks })).toBe('00'.repeat(32))
})

test('gives the memory of a whole file back at once', async () => {
  let hashed: ArrayBuffer | undefined
  const subtle = {
    digest: async (_name: unknown, bytes: BufferSource) => {
      if (bytes instanceof ArrayBuffer) hashed = bytes
      return new ArrayBuffer(32)
    }
  }
  await fingerprintFile(new Blob([randomBytes(100)]), {}, { subtle })
  expect(hashed?.detached).toBe(true)
})

test('fails when the file cannot be read to its end', async () => {
  const file = new Blob([randomBytes(10)])
  const gone = () => {
    throw new DOMException('gone', 'NotReadableError')
  }
  Object.assign(file, { arrayBuffer: gone, slice: gone })
  await expect(fingerprintFile(file)).rejects.toThrow('gone')
})

test('hashes a file in pieces if the device has no memory for the whole', async () => {
  const bytes = randomBytes(10)
  const file = new Blob([bytes])
  file.arrayBuffer = async () => {
    throw new RangeError('Array buffer allocation failed')
  }
  expect(await fingerprintFile(file)).toBe(createHash('sha256').update(bytes).digest('hex'))
})

test('reads the next piece while one is hashed', async () => {
  const order: string[] = []
  const file = new Blob([randomBytes(3 * piece)])
  const slice = file.slice.bind(file)
  file.slice = (start, end) => {
    order.push(`read ${Number(start) / piece}`)
    return slice(start, end)
  }
  const startHasher = async () => {
    let next = 0
    return { update: () => order.push(`hash ${next++}`), digest: () => '' }
  }
  await fingerprintInPieces(file, { startHasher })
  expect(order).toEqual(['read 0', 'read 1', 'hash 0', 'read 2', 'hash 1', 'hash 2'])
})

test('refuses a file that turns out shorter than it was', async () => {
  const file = new Blob([randomBytes(10)])
  async function* read() {
    yield new Uint8Array(7)
  }
  await expect(fingerprintInPieces(file, { read })).rejects.toThrow('shorter')
  file.arrayBuffer = async () => new ArrayBuffer(7)
  await expect(fingerprintFile(file)).rejects.toThrow('shorter')
})

/** Returns a Web Lock that nobody else uses. */
function freeLock(): Pick<LockManager, 'request'> {
  let isHeld = false
  const request = async (_name: string, _options: unknown, use: (lock: Lock | null) => unknown) => {
    if (isHeld) return use(null)
    isHeld = true
    try {
      return await use({ mode: 'exclusive', name: 'test' })
    } finally {
      isHeld = false
    }
  }
  return { request: request as LockManager['request'] } // as: this overload is the one that is used
}
