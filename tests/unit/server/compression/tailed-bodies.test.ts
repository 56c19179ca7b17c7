import { syncBuiltinESMExports } from 'node:module'
import zlib from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createTailedBodies } from '../../../../src/server/compression/tailed-bodies.ts'

test('compresses what is common once, however many hosts are asked', () => {
  const compress = vi.spyOn(zlib, 'gzipSync')
  syncBuiltinESMExports()
  onTestFinished(() => {
    compress.mockRestore()
    syncBuiltinESMExports()
  })
  const head = JSON.stringify(Array.from({ length: 5000 }, (_, n) => `Ångström ${n}`))
  const bodyWith = createTailedBodies(head)
  const tails = ['', 'é', ...Array.from({ length: 200 }, (_, n) => `{"host":"n${n}.acme.fr"}`)]
  const etags = new Set<string>()
  for (const tail of [...tails, ...tails]) {
    const { identity, gzip, etag } = bodyWith(tail)
    expect(identity.toString()).toBe(head + tail)
    expect(zlib.gunzipSync(gzip ?? '').equals(identity)).toBe(true)
    etags.add(etag)
  }
  expect(etags.size).toBe(tails.length)
  expect(compress).toHaveBeenCalledTimes(1)
})
