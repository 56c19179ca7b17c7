import { randomBytes } from 'node:crypto'
import { readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkFilesAndDeleteOrphans } from '../../../src/server/domain/deposits/file-checks.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'

const day = 86_400

test('finds nothing wrong with documents that are whole', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  for (let n = 0; n < 3; n++) await app.deposit(ada, randomBytes(1000))
  expect(await checkFilesAndDeleteOrphans(app.deps, app.companies['acme.localhost'], 1)).toEqual({
    checked: 3,
    missing: [],
    damaged: [],
    removed: 0
  })
})

test('raises the alarm for a document that is gone, cut or changed', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  for (let n = 0; n < 3; n++) await app.deposit(ada, randomBytes(1000))
  const [gone = '', cut = '', changed = ''] = await keptFiles(app)
  await rm(gone)
  await writeFile(cut, randomBytes(999))
  await writeFile(changed, randomBytes(1000))
  const report = await checkFilesAndDeleteOrphans(app.deps, app.companies['acme.localhost'], 1)
  expect(report.missing.toSorted()).toEqual([gone, cut].map(nameOf).toSorted())
  expect(report.damaged).toEqual([nameOf(changed)])
})

test('removes files that belong to nothing after a day, and no others', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  await app.deposit(ada, randomBytes(1000))
  const { upload } = await app.reserve(ada, randomBytes(1000))
  await app.patch(ada, upload, randomBytes(10))
  const [kept = ''] = await keptFiles(app)
  const orphan = join(kept, '..', nameOf(kept).slice(0, 2) + randomBytes(31).toString('hex'))
  const staged = app.deps.blobs.stagingFile({
    company_id: app.companies['acme.localhost'],
    id: 'A'.repeat(22),
    generation: 0
  })
  for (const path of [orphan, staged]) {
    await writeFile(path, 'left by a crash')
    await utimes(path, 0, 0)
  }
  expect(
    (await checkFilesAndDeleteOrphans(app.deps, app.companies['acme.localhost'], 0)).removed
  ).toBe(0)
  app.wait(2 * day)
  expect(
    (await checkFilesAndDeleteOrphans(app.deps, app.companies['acme.localhost'], 0)).removed
  ).toBe(2)
  expect(await keptFiles(app)).toEqual([kept])
  expect(await readdir(join(staged, '..'))).toEqual([upload.slice('/uploads/'.length)])
})

async function keptFiles(app: TestApp): Promise<string[]> {
  const root = join(app.folder, 'documents', 'blobs', app.companies['acme.localhost'])
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries
    .filter(each => each.isFile())
    .map(each => join(each.parentPath, each.name))
    .sort()
}

function nameOf(path: string): string {
  return path.split('/').at(-1) ?? ''
}
