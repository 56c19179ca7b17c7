import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { astroRouteOf, type PageEntry, pages } from '../../../../src/core/pages/page-table.ts'
import { readAstroBuild } from '../../../../src/server/site/astro-build.ts'
import { makeTemporaryFolder } from '../../../helpers/temporary-folder.ts'

test('refuses at start the page whose guard nobody knows', async () => {
  const folder = await write(['/[locale]/me', '/[locale]/admin'])
  const table = { me: pages.me, admin: { ...pages.me, path: '/admin', guard: 'admins' } }
  // as: Node does not check the types of the table
  await expect(readAstroBuild(folder, table as Record<string, PageEntry>)).rejects.toThrow(
    'Unknown guard: /admin names "admins". There are: none, signed-in, signed-out, admin, operator.'
  )
})

test('refuses at start a page without a row, and a row without a page', async () => {
  const folder = await write(['/[locale]/me', '/[locale]/admin/[company]'])
  const { me, verify } = pages
  await expect(readAstroBuild(folder, { me, verify })).rejects.toThrow(
    'page-table.ts differs from the built pages: /[locale]/admin/[company] has no row, /[locale]/verify has no page.'
  )
})

test('every page has a row in the table, and every row a page', async () => {
  const { default: record } = await import('../../../../dist/build.json', {
    with: { type: 'json' }
  })
  expect(record.routes).toEqual(Object.values(pages).map(astroRouteOf).sort())
})

test('asks for a build where there is none, or one of another version', async () => {
  await expect(readAstroBuild(join(tmpdir(), 'no-such-folder'))).rejects.toThrow('npm run build')
  const folder = await write(undefined)
  await expect(readAstroBuild(folder)).rejects.toThrow('npm run build')
})

async function write(routes: unknown): Promise<string> {
  const folder = await makeTemporaryFolder()
  const record = {
    id: 'a',
    built: '2026-05-03T12:00:00.000Z',
    messages: { en: {}, fr: {} },
    scripts: { ofSource: {}, imports: {} },
    routes
  }
  await writeFile(join(folder, 'build.json'), JSON.stringify(record))
  return folder
}
