import { beforeAll, expect, test } from 'vitest'
import { checkFlushOrder, testUploadDiskFaults, tusFaults } from '../../../bench/soak/disk.ts'
import { putFaults, testPutDiskFaults } from '../../../bench/soak/disk-put.ts'
import { whyStraceFails } from '../../../bench/soak/strace.ts'
import { seed } from '../../helpers/soak.ts'

/** The faults to inject, by title: one of each kind. `npm run soak` injects all faults. */
const titles = [
  'writing on a full disk',
  'flushing the file',
  'moving it',
  'flushing the database’s log'
]

beforeAll(() => expect(whyStraceFails()).toBeUndefined())

// security.md C-03
test(`promises nothing that is not on the disk (SEED=${seed})`, async () => {
  const { faults } = await checkFlushOrder({ seed, deposits: 1 })
  expect(faults).toEqual([])
}, 60_000)

// security.md C-04
test(`keeps a document whole or not at all when the disk fails (SEED=${seed})`, {
  timeout: 240_000
}, async () => {
  const some = tusFaults.filter(({ title }) => titles.includes(title))
  expect(some).toHaveLength(titles.length)
  const { faults, deposits, acknowledged, failed } = await testUploadDiskFaults({
    seed,
    faults: some
  })
  expect(faults).toEqual([])
  expect(deposits).toBeGreaterThan(some.length)
  expect(acknowledged + failed).toBe(deposits)
  // a flush that failed may have lost the bytes, so it is never tried again
  expect(failed).toBe(1)
})

// security.md C-04
test(`makes of each PUT one document, or a failure that keeps and charges nothing (SEED=${seed})`, {
  timeout: 240_000
}, async () => {
  const some = putFaults.filter(({ title }) => titles.includes(title))
  expect(some).toHaveLength(titles.length)
  const { faults, sent, acknowledged, failed } = await testPutDiskFaults({ seed, faults: some })
  expect(faults).toEqual([])
  expect(sent).toBeGreaterThan(some.length)
  // whoever sends the file again has it on record in the end
  expect(acknowledged).toBe(sent)
  // a commit whose flush failed may be on the disk all the same
  const certain = some.filter(({ path }) => path !== 'write-ahead log')
  expect(failed).toBeGreaterThanOrEqual(certain.length)
})
