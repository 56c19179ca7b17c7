import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createJavaScriptHasher, fingerprint } from '../../../src/workers/fingerprint.ts'

const piece = 4 * 1024 * 1024

const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

test.each([0, 1, 63, 64, 65, piece - 1, piece, piece + 1, 2 * piece, 2 * piece + 12_345])(
  'agrees with another implementation at %d bytes, in WASM and in plain JavaScript',
  async size => {
    const bytes = randomBytes(size)
    const expected = createHash('sha256').update(bytes).digest('hex')
    const file = new Blob([bytes])
    expect(await fingerprint(file)).toBe(expected)
    expect(await fingerprint(file, { startHasher: async () => createJavaScriptHasher() })).toBe(
      expected
    )
  }
)

test('knows the fingerprint of nothing', async () => {
  expect(await fingerprint(new Blob([]))).toBe(empty)
})

test('tells how many bytes are done, ending with all', async () => {
  const told: number[] = []
  const file = new Blob([randomBytes(piece + 5)])
  await fingerprint(file, { onProgress: bytesDone => told.push(bytesDone) })
  expect(told).toEqual([piece, piece + 5])
})

test('fails when the file cannot be read to its end', async () => {
  const file = new Blob([randomBytes(10)])
  file.slice = () => {
    throw new DOMException('gone', 'NotReadableError')
  }
  await expect(fingerprint(file)).rejects.toThrow('gone')
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
  await fingerprint(file, { startHasher })
  expect(order).toEqual(['read 0', 'read 1', 'hash 0', 'read 2', 'hash 1', 'hash 2'])
})

test('refuses a file that turns out shorter than it was', async () => {
  const file = new Blob([randomBytes(10)])
  async function* read() {
    yield new Uint8Array(7)
  }
  await expect(fingerprint(file, { read })).rejects.toThrow('shorter')
})
