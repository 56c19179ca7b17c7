import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { doors, may } from '../../oxlint.config.ts'

const legal: Record<string, string> = {
  'src/core/merkle.ts': 'export const root = 1',
  'src/contract/groups.ts': `
    import { root } from '../core/merkle.ts'
    export const group = root`,
  'src/i18n/t.ts': 'export const t = 1',
  'src/theme/base.css': 'a { color: red }',
  'src/workers/hash.ts': `
    import { group } from '../contract/groups.ts'
    export const hash = group`,
  'src/stores/groups.ts': `
    import { atom } from 'nanostores'
    import { group } from '../contract/groups.ts'
    import { t } from '../i18n/t.ts'
    import { hash } from '../workers/hash.ts'
    export const $groups = atom([group, t, hash])`,
  'src/stores/lists/lists.ts': `
    import { $groups } from '../groups.ts'
    export const createListStore = $groups`,
  'src/stores/admin/domains.ts': `
    import { createListStore } from '../lists/lists.ts'
    export const $domains = createListStore`,
  'src/stores/accounts/setup.ts': `
    import { $groups } from '../groups.ts'
    export const $setup = $groups`,
  'src/stores/history/requests.ts': `
    import { $groups } from '../groups.ts'
    import { merge } from './request-stream.ts'
    export const $requests = [$groups, merge]`,
  'src/stores/history/request-stream.ts': 'export const merge = 1',
  'src/stores/deposits/deposits.ts': `
    import { $requests } from '../history/requests.ts'
    import { queue } from './deposit-queue.ts'
    export const $deposits = [$requests, queue]`,
  'src/stores/deposits/deposit-queue.ts': 'export const queue = 1',
  'src/islands/kit/Row.tsx': `
    import { useState } from 'react'
    import { t } from '../../i18n/t.ts'
    export const Row = [useState, t]`,
  'src/islands/forms/Field.tsx': `
    import { $setup } from '../../stores/accounts/setup.ts'
    import { Row } from '../kit/Row.tsx'
    export const Field = [$setup, Row]`,
  'src/islands/files/DropZone.tsx': `
    import { $groups } from '../../stores/groups.ts'
    export const DropZone = $groups`,
  'src/islands/sign-in/SignIn.tsx': `
    import { Field } from '../forms/Field.tsx'
    export const SignIn = Field`,
  'src/islands/mail-links/ConfirmEmail.tsx': `
    import { $setup } from '../../stores/accounts/setup.ts'
    export const ConfirmEmail = $setup`,
  'src/islands/me/AccountScreen.tsx': `
    import { DropZone } from '../files/DropZone.tsx'
    import { Field } from '../forms/Field.tsx'
    export const AccountScreen = [DropZone, Field]`,
  'src/islands/verify/Verify.tsx': `
    import { DropZone } from '../files/DropZone.tsx'
    export const Verify = DropZone`,
  'src/islands/deposit/Deposit.tsx': `
    import { useStore } from '@nanostores/react'
    import { $deposits } from '../../stores/deposits/deposits.ts'
    import { Row } from '../kit/Row.tsx'
    import { DepositRow } from './DepositRow.tsx'
    export const Deposit = [useStore, $deposits, Row, DepositRow]`,
  'src/islands/deposit/DepositRow.tsx': 'export const DepositRow = 1',
  'src/islands/history/RequestHistory.tsx': `
    import { $requests } from '../../stores/history/requests.ts'
    export const RequestHistory = $requests`,
  'src/islands/details/DetailFrame.tsx': `
    import { $domains } from '../../stores/admin/domains.ts'
    import { Field } from '../forms/Field.tsx'
    export const DetailFrame = [$domains, Field]`,
  'src/islands/limits/LimitEditor.tsx': `
    import { Row } from '../kit/Row.tsx'
    export const LimitEditor = Row`,
  'src/components/Seal.astro': `---
    import { root } from '../core/merkle.ts'
    ---
    {root}`,
  'src/shell/kit/page.ts': `
    import { t } from '../../i18n/t.ts'
    export const page = t`,
  'src/shell/upload-progress/running-uploads.ts': `
    import { $deposits } from '../../stores/deposits/deposits.ts'
    import { draw } from './upload-progress.ts'
    export const isUploading = [$deposits, draw]`,
  'src/shell/upload-progress/upload-progress.ts': `
    import { page } from '../kit/page.ts'
    export const draw = page`,
  'src/shell/builds/lost-files.ts': `
    import { isUploading } from '../upload-progress/running-uploads.ts'
    export const reload = isUploading`,
  'src/shell/drop/drop-anywhere.ts': `
    import { targets } from './drop-actions.ts'
    export const drop = targets`,
  'src/shell/drop/drop-actions.ts': 'export const targets = 1',
  'src/shell/drawer.ts': `
    import { navigate } from 'astro:transitions/client'
    import { $groups } from '../stores/groups.ts'
    import { reload } from './builds/lost-files.ts'
    import { drop } from './drop/drop-anywhere.ts'
    export const drawer = [navigate, $groups, reload, drop]`,
  'src/layouts/Shell.astro': `---
    import '../theme/base.css'
    import Seal from '../components/Seal.astro'
    ---
    <Seal /><script>import '../shell/drawer.ts'</script>`,
  'src/pages/[locale]/index.astro': `---
    import Shell from '../../layouts/Shell.astro'
    import { Deposit } from '../../islands/deposit/Deposit.tsx'
    ---
    <Shell><Deposit client:load /></Shell>`,
  'src/middleware.ts': `
    import { group } from './contract/groups.ts'
    export const onRequest = group`,
  'src/env.d.ts': `
    import type { group } from './contract/groups.ts'
    export type Locals = { group: typeof group }`,
  'src/server/db/open.ts': `
    import { readFile } from 'node:fs/promises'
    import { Kysely } from 'kysely'
    import pg from 'pg'
    export const db = [readFile, Kysely, pg]`,
  'src/server/domain/groups.ts': `
    import { sql } from 'kysely'
    import { db } from '../db/open.ts'
    export const createGroup = [sql, db]`,
  'src/server/jobs/sweep.ts': `
    import { createGroup } from '../domain/groups.ts'
    export const sweep = createGroup`,
  'src/server/api/groups.ts': `
    import type { Hono } from 'hono'
    import { createGroup } from '../domain/groups.ts'
    export const mount = (app: Hono) => [app, createGroup]`,
  'src/server/app.ts': `
    import { Hono } from 'hono'
    import { cors } from 'hono/cors'
    import { getRequestListener } from '@hono/node-server'
    import { mount } from './api/groups.ts'
    import { db } from './db/open.ts'
    export const app = [Hono, cors, getRequestListener, mount, db]`,
  'tests/unit/groups.test.ts': `
    import { readFile } from 'node:fs/promises'
    import { test } from 'vitest'
    import { db } from '../../src/server/db/open.ts'
    test('reads', () => [readFile, db])`,
  'bench/deposits.ts': `
    import { app } from '../src/server/app.ts'
    export const bench = app`
}

// One line at least for each row of the table, and one for each form that an import can take.
const faults: Record<string, string> = {
  'src/core/fault.ts': `import '../contract/groups.ts'`,
  'src/core/files.ts': `import 'node:fs/promises'`,
  'src/contract/fault.ts': `export { $groups } from '../stores/groups.ts'`,
  'src/contract/kit/fault.ts': `import '../groups.ts'`,
  'src/contract/openapi/fault.ts': `import '../../i18n/t.ts'`,
  'src/i18n/fault.ts': `import '../core/merkle.ts'`,
  'src/theme/fault.ts': `import '../core/merkle.ts'`,
  'src/workers/fault.ts': `import '../stores/groups.ts'`,
  'src/stores/fault.ts': `import 'react'`,
  'src/stores/dom.ts': `import 'react-dom/client'`,
  'src/stores/room.ts': `import './accounts/setup.ts'`,
  'src/stores/lists/fault.ts': `import '../admin/domains.ts'`,
  'src/stores/admin/fault.ts': `import '../accounts/setup.ts'`,
  'src/stores/accounts/fault.ts': `import '../deposits/deposits.ts'`,
  'src/stores/history/fault.ts': `import '../deposits/deposits.ts'`,
  'src/stores/deposits/fault.ts': `import type { merge } from '../history/request-stream.ts'\nexport type Merge = typeof merge`,
  'src/islands/kit/Fault.tsx': `import '../../stores/groups.ts'`,
  'src/islands/forms/Fault.tsx': `import '../sign-in/SignIn.tsx'`,
  'src/islands/files/Fault.tsx': `import '../forms/Field.tsx'`,
  'src/islands/sign-in/Fault.tsx': `import '../mail-links/ConfirmEmail.tsx'`,
  'src/islands/mail-links/Fault.tsx': `import '../sign-in/SignIn.tsx'`,
  'src/islands/me/Fault.tsx': `import '../sign-in/SignIn.tsx'`,
  'src/islands/verify/Fault.tsx': `import '../deposit/Deposit.tsx'`,
  'src/islands/deposit/Fault.tsx': `const page = import('../../layouts/Shell.astro')`,
  'src/islands/deposit/Limits.tsx': `import '../../stores/deposits/deposit-queue.ts'`,
  'src/islands/history/Fault.tsx': `import '../verify/Verify.tsx'`,
  'src/islands/lists/Fault.tsx': `import '../forms/Field.tsx'`,
  'src/islands/details/Fault.tsx': `import '../limits/LimitEditor.tsx'`,
  'src/islands/limits/Fault.tsx': `import '../../stores/groups.ts'`,
  'src/islands/Loose.tsx': 'export const Loose = 1',
  'src/components/Fault.astro': `---\nimport '../contract/groups.ts'\n---`,
  'src/shell/fault.ts': `import '@nanostores/react'`,
  'src/shell/kit/fault.ts': `import '../drawer.ts'`,
  'src/shell/upload-progress/fault.ts': `import '../builds/lost-files.ts'`,
  'src/shell/builds/fault.ts': `const draw = import('../upload-progress/upload-progress.ts')`,
  'src/shell/drop/fault.ts': `import '../upload-progress/running-uploads.ts'`,
  'src/shell/targets.ts': `import './drop/drop-actions.ts'`,
  'src/layouts/Fault.astro': `---\nimport '../contract/groups.ts'\n---`,
  'src/layouts/Script.astro': `<script>import '../islands/deposit/Deposit.tsx'</script>`,
  'src/pages/store.astro': `---\nimport '../stores/groups.ts'\n---`,
  'src/pages/piece.astro': `---\nimport '../islands/kit/Row.tsx'\n---`,
  'src/pages/row.astro': `---\nimport '../islands/deposit/DepositRow.tsx'\n---`,
  'src/pages/server.astro': `---\nimport '../server/app.ts'\n---`,
  'src/middleware.ts': `import './stores/groups.ts'`,
  'src/env.d.ts': `import type { words } from './i18n/words.ts'\nexport type Words = typeof words`,
  'src/server/db/fault.ts': `import type { group } from '../../contract/groups.ts'`,
  'src/server/domain/fault.ts': `import '../api/groups.ts'`,
  'src/server/domain/driver.ts': `import 'pg'`,
  'src/server/domain/http.ts': `import 'hono/http-exception'`,
  'src/server/jobs/fault.ts': `import '../db/open.ts'`,
  'src/server/api/fault.ts': `import '../db/open.ts'`,
  'src/server/api/kit/fault.ts': `import '../groups.ts'`,
  'src/server/api/query.ts': `import 'kysely'`,
  'src/server/fault.ts': `import '../stores/groups.ts'`,
  'src/server/mount.ts': `import '../core/missing.ts'`,
  'src/utils/text.ts': 'export const text = 1',
  'src/loose.ts': 'export const loose = 1',
  'src/core/tested.ts': `import '../../tests/unit/groups.test.ts'`,
  'src/core/measured.ts': `import '../../bench/deposits.ts'`,
  'src/core/one.ts': `import { two } from './two.ts'\nexport const one = () => two`,
  'src/core/two.ts': `import { one } from './one.ts'\nexport const two = () => one`
}

// Each folder gets a file, which is a door where it has doors, and a file that uses all folders that
// it may use. Faults: a folder that may not use it uses it, it uses a folder that it may not use, and
// a folder that may use it uses a file behind its doors.
const folders = Object.keys(may)
const doorOf = (folder: string) => doors[folder]?.[0] ?? 'door.ts'
for (const folder of folders) {
  const use = (other: string, file = doorOf(other)) =>
    `import type {} from '${from(folder, other)}/${file}'`
  legal[`${folder}/${doorOf(folder)}`] ??= 'export const door = 1'
  legal[`${folder}/uses-allowed.ts`] = (may[folder] ?? []).map(other => use(other)).join('\n')
}
for (const room of folders) {
  const use = (folder: string, file: string) =>
    `import type {} from '${from(folder, room)}/${file}'`
  const stranger = folders.find(folder => folder !== room && !may[folder]?.includes(room))
  faults[`${stranger}/uses-${nameOf(room)}.ts`] = use(`${stranger}`, doorOf(room))
  const forbidden = folders.findLast(other => other !== room && !may[room]?.includes(other))
  const path = from(room, `${forbidden}/${doorOf(`${forbidden}`)}`)
  faults[`${room}/uses-forbidden.ts`] = `import type {} from '${path}'`
  if (!(room in doors)) continue
  const user = folders.find(folder => may[folder]?.includes(room))
  legal[`${room}/behind.ts`] = 'export const behind = 1'
  faults[`${user}/behind-${nameOf(room)}.ts`] = use(`${user}`, 'behind.ts')
}

const root = resolve(import.meta.dirname, '../..')
let reported: string[]

beforeAll(() => {
  reported = lint({ ...legal, ...faults })
})

test.for(Object.keys(faults))('reports the planted fault in %s', path => {
  expect(reported).toContain(path)
})

test('allows what the table of imports allows', () => {
  // planted faults take the place of the last two
  const paths = ['core/merkle.ts', 'contract/groups.ts', 'middleware.ts', 'env.d.ts']
  const few = paths.map(path => [`src/${path}`, `${legal[`src/${path}`]}`])
  expect(lint(Object.fromEntries(few))).toEqual([])
  expect(reported.filter(path => !(path in faults))).toEqual([])
})

test('leads no folder back to itself', () => {
  const reachable = (folder: string, seen = new Set<string>()): Set<string> => {
    for (const next of may[folder] ?? []) {
      if (!seen.has(next)) reachable(next, seen.add(next))
    }
    return seen
  }
  for (const folder of Object.keys(may)) expect(reachable(folder)).not.toContain(folder)
})

test('keeps no folder with more than thirty files, beyond which nobody reads their names', () => {
  const entries = ['src', 'tests'].flatMap(folder =>
    fs.readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  )
  const folders = entries.filter(entry => entry.isFile()).map(entry => entry.parentPath)
  const counts = Object.groupBy(folders, folder => relative(root, folder))
  const heaps = Object.entries(counts).filter(([, files = []]) => files.length > 30)
  // migrations are read by their numbers
  expect(heaps.map(([folder]) => folder)).toEqual(['src/server/db/migrations'])
})

test('names doors that exist', () => {
  for (const [room, names] of Object.entries(doors)) {
    for (const name of names) expect(fs.existsSync(join(root, room, name)), name).toBe(true)
  }
})

// The linter cannot tell the two halves of a layout apart.
test('imports the shell from scripts only', () => {
  const layouts = join(root, 'src/layouts')
  const names = fs.existsSync(layouts) ? fs.readdirSync(layouts, { encoding: 'utf8' }) : []
  for (const name of names.filter(name => name.endsWith('.astro'))) {
    const [, frontmatter] = fs.readFileSync(join(layouts, name), 'utf8').split(/^---$/m)
    expect(frontmatter ?? '', name).not.toMatch(/shell\//)
  }
})

/** Returns a name for a file about a folder: `'src/a/b'` → `'a-b'` */
function nameOf(folder: string): string {
  return folder.replace(/^src\//, '').replaceAll('/', '-')
}

/** Returns a path relative to a folder: `('src/a', 'src/a/b')` → `'./b'` */
function from(folder: string, other: string): string {
  const path = relative(folder, other)
  return path.startsWith('.') ? path : `./${path}`
}

/** Lints the files of `tree`, whose keys are paths. Returns the paths of the files with errors. */
function lint(tree: Record<string, string>): string[] {
  const folder = fs.mkdtempSync(join(tmpdir(), 'boundaries-'))
  try {
    fs.symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir')
    for (const name of ['oxlint.config.ts', 'package.json', 'tsconfig.json']) {
      fs.copyFileSync(join(root, name), join(folder, name))
    }
    for (const [path, source] of Object.entries(tree)) {
      fs.mkdirSync(dirname(join(folder, path)), { recursive: true })
      fs.writeFileSync(join(folder, path), `${source.replace(/^ +/gm, '').trim()}\n`)
    }
    const { stdout, stderr } = spawnSync(
      join(root, 'node_modules/.bin/oxlint'),
      ['--deny-warnings', '--format=json', 'src', 'tests', 'bench'],
      { cwd: folder, encoding: 'utf8' }
    )
    if (!stdout.startsWith('{')) throw new Error(`oxlint did not run: ${stdout}${stderr}`)
    const { diagnostics, number_of_files: count } = JSON.parse(stdout)
    if (count < Object.keys(tree).length - 1) throw new Error(`oxlint saw only ${count} files`)
    return [...new Set<string>(diagnostics.map((found: { filename: string }) => found.filename))]
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
