import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findStartupProblems } from '../../../src/server/startup-checks.ts'
import { makeTemporaryFolder } from '../../helpers/temporary-folder.ts'

const built = new Date('2026-05-03T12:00:00Z')
const now = new Date('2026-05-04T12:00:00Z')

async function refusalsOf(change: Partial<Parameters<typeof findStartupProblems>[0]> = {}) {
  const documents = await makeTemporaryFolder()
  return findStartupProblems({
    scheme: 'http',
    host: '127.0.0.1',
    ports: {},
    managementHost: '127.0.0.1',
    trustedProxies: [],
    documents,
    now,
    built,
    ...change
  })
}

test('nothing is wrong with an ordinary start', async () => {
  expect(
    await refusalsOf({
      trustedProxies: ['10.0.0.0/8', 'fd00::/8', '127.0.0.1', '::ffff:10.0.0.0/104']
    })
  ).toEqual([])
})

test('refuses https without a trusted proxy', async () => {
  expect(await refusalsOf({ scheme: 'https' })).toEqual([
    expect.stringMatching(/TRUSTED_PROXIES is empty.*TRUSTED_PROXIES=127\.0\.0\.1/)
  ])
  expect(await refusalsOf({ scheme: 'https', trustedProxies: ['127.0.0.1'] })).toEqual([])
})

test.each([
  ['all of IPv4 in two halves', ['0.0.0.0/1', '128.0.0.0/1'], /every IPv4 address/],
  ['all of IPv4 in pieces', ['64.0.0.0/2', '0.0.0.0/2', '128.0.0.0/1'], /every IPv4 address/],
  ['all of IPv4 as IPv6 has it', ['::ffff:0:0/96'], /every IPv4 address/],
  ['the part of IPv6 in which IPv4 lies', ['::/3'], /every IPv4 address/],
  ['all of IPv4, half of it as IPv6', ['::ffff:0.0.0.0/97', '128.0.0.0/1'], /every IPv4 address/],
  ['the public part of IPv6', ['2000::/3'], /every IPv6 address/],
  ['the public part of IPv6 in two halves', ['2000::/4', '3000::/4'], /every IPv6 address/],
  ['everybody at once', ['0.0.0.0/0'], /everyone/],
  ['what is no network', ['proxy.test'], /not a network/]
])('refuses to trust %s', async (_what, trustedProxies, sentence) => {
  expect(await refusalsOf({ trustedProxies })).toEqual([expect.stringMatching(sentence)])
})

test('trusts all of IPv4 but one address', async () => {
  const most = Array.from({ length: 32 }, (_, bit) => `${address(2 ** bit)}/${32 - bit}`)
  expect(await refusalsOf({ trustedProxies: most })).toEqual([])
  expect(await refusalsOf({ trustedProxies: [...most, '0.0.0.0'] })).toHaveLength(1)
})

test('refuses folders of documents that cannot be written', async () => {
  const documents = await makeTemporaryFolder()
  await writeFile(join(documents, 'staging'), 'a file')
  expect(await refusalsOf({ documents })).toEqual([
    expect.stringMatching(/staging is not writable \(EEXIST\)/)
  ])
})

test.runIf(process.platform === 'linux')(
  'refuses staging and blobs on different file systems',
  async () => {
    const documents = await makeTemporaryFolder('/dev/shm')
    const onDisk = await makeTemporaryFolder(join(import.meta.dirname, '../../../.cache'))
    await symlink(onDisk, join(documents, 'blobs'))
    expect(await refusalsOf({ documents })).toEqual([
      expect.stringMatching(/different file systems/)
    ])
  }
)

test('refuses an address that is not of this machine', async () => {
  const refusals = await refusalsOf({ host: '192.0.2.1', ports: { PORT: 5599 } })
  expect(refusals).toEqual([expect.stringMatching(/on 192\.0\.2\.1 \(EADDRNOTAVAIL\)/)])
})

test('refuses a clock from before the build', async () => {
  const refusals = await refusalsOf({ now: new Date(built.getTime() - 1) })
  expect(refusals).toEqual([expect.stringMatching(/set the clock/)])
})

test('says everything that is wrong at once', async () => {
  const refusals = await refusalsOf({ trustedProxies: ['::/1', '8000::/1'], now: new Date(0) })
  expect(refusals).toEqual([
    expect.stringMatching(/every IPv4 address/),
    expect.stringMatching(/every IPv6 address/),
    expect.stringMatching(/set the clock/)
  ])
})

function address(number: number): string {
  return [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.')
}
