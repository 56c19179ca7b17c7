import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { isGuardName } from '../../../../src/core/pages/page-guards.ts'
import { readBuild } from '../../../../src/server/site/astro-build.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

test('refuses at start the page whose guard nobody knows', async () => {
  const folder = await write({ '/[locale]/me': 'signed-in', '/[locale]/admin': 'admins' })
  await expect(readBuild(folder)).rejects.toThrow(
    'Unknown guard: /[locale]/admin names "admins". There are: none, signed-in, signed-out, admin, operator.'
  )
})

test('has the guard of every page', async () => {
  const { default: record } = await import('../../../../dist/build.json', {
    with: { type: 'json' }
  })
  const pages: Record<string, string> = record.pages
  expect(Object.keys(pages)).toContain('/[locale]/disabled')
  for (const [route, guard] of Object.entries(pages)) expect(isGuardName(guard), route).toBe(true)
})

test('asks for a build where there is none, or one of another version', async () => {
  await expect(readBuild(join(tmpdir(), 'no-such-folder'))).rejects.toThrow('npm run build')
  const folder = await write(undefined)
  await expect(readBuild(folder)).rejects.toThrow('npm run build')
})

async function write(pages: unknown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'build-'))
  folders.push(folder)
  const record = { id: 'a', built: '2026-05-03T12:00:00.000Z', messages: { en: {}, fr: {} }, pages }
  await writeFile(join(folder, 'build.json'), JSON.stringify(record))
  return folder
}
