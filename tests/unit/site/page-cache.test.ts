import { expect, test } from 'vitest'
import { compressBody } from '../../../src/server/compression/compressed-bodies.ts'
import { PageCache, type RenderedPage } from '../../../src/site/page-cache.ts'

test('lets the least recently read page leave when the bytes run out', async () => {
  const cache = new PageCache(250, compressBody)
  const read = (key: string) => cache.get(key, '1', async () => pageOf(100))
  await read('a')
  await read('b')
  await read('a')
  await read('c')
  expect(cache.stats()).toEqual({ pages: 2, bytes: 200, rendered: 3 })
  await read('a')
  expect(cache.stats().rendered).toBe(3)
  await read('b')
  expect(cache.stats().rendered).toBe(4)
})

test('keeps no page that is larger than all it may hold', async () => {
  const cache = new PageCache(50, compressBody)
  await cache.get('a', '1', async () => pageOf(100))
  expect(cache.stats()).toMatchObject({ pages: 0, bytes: 0 })
})

test('holds one version of a page at a time', async () => {
  const cache = new PageCache(1000, compressBody)
  for (const version of ['1', '2', '1']) {
    await cache.get('a', version, async () => pageOf(100))
  }
  expect(cache.stats()).toMatchObject({ pages: 1, bytes: 100, rendered: 3 })
})

test('keeps nothing of a render that failed, and tries again', async () => {
  const cache = new PageCache(1000, compressBody)
  const failed = cache.get('a', '1', async () => {
    throw new Error('no tenant')
  })
  await expect(failed).rejects.toThrow('no tenant')
  await cache.get('a', '1', async () => pageOf(10))
  expect(cache.stats()).toMatchObject({ pages: 1, bytes: 10 })
})

test('counts the compressed forms too', async () => {
  const cache = new PageCache(100_000, compressBody)
  await cache.get('a', '1', async () => pageOf(5000))
  expect(cache.stats().bytes).toBeGreaterThan(5000)
})

function pageOf(bytes: number): RenderedPage {
  return { status: 200, headers: { 'content-type': 'text/html' }, body: 'x'.repeat(bytes) }
}
