import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { doors, may, only } from '../../oxlint.config.ts'

const root = resolve(import.meta.dirname, '../..')
const folders = Object.keys(may)
const nameOf = (folder: string) => folder.replace('src/', '').replaceAll('/', '-')
const doorOf = (folder: string) => doors[folder]?.[0] ?? 'open.ts'
const importOf = (from: string, folder: string, file = doorOf(folder)) =>
  `import type {} from '${pathFrom(from, folder)}/${file}'`

// what the packages of each row of `only` are for
const homes = ['src/islands/kit', 'src/server/db', 'src/server/domain', 'src/server', 'src/server']
const strangers = [
  'src/stores',
  'src/server/domain',
  'src/server/api',
  'src/server/domain',
  'src/core'
]

const legal: Record<string, string> = {
  'src/pages/[locale]/index.astro': `---\nimport '../../core/open.ts'\n---`,
  'tests/unit/open.test.ts': `import { readFile } from 'node:fs/promises'
    import '../../src/server/db/open.ts'
    export const test = readFile`,
  'bench/open.ts': `import '../src/server/open.ts'`
}

// one fault for each other rule, and for each form that an import can take
const faults: Record<string, string> = {
  'src/utils/text.ts': 'export const text = 1',
  'src/loose.ts': 'export const loose = 1',
  'src/middleware.ts': importOf('src', 'src/stores'),
  'src/env.d.ts': importOf('src', 'src/i18n'),
  'src/core/missing.ts': `import './nowhere.ts'`,
  'src/core/tested.ts': `import '../../tests/unit/open.test.ts'`,
  'src/core/measured.ts': `import '../../bench/open.ts'`,
  'src/core/one.ts': `import { two } from './two.ts'\nexport const one = () => two`,
  'src/core/two.ts': `import { one } from './one.ts'\nexport const two = () => one`,
  'src/contract/export.ts': `export { door } from '../stores/open.ts'`,
  'src/islands/kit/Dynamic.tsx': `export const page = import('../../stores/open.ts')`,
  'src/core/global.ts': `export const text = Buffer.from('a')`,
  'src/pages/global.astro': `---\nconst dev = process.env.DEV\n---`,
  'src/pages/frontmatter.astro': `---\nimport '../stores/open.ts'\n---`,
  'src/layouts/Script.astro': `<script>import '../stores/open.ts'</script>`
}

for (const folder of folders) {
  legal[`${folder}/${doorOf(folder)}`] = 'export const door = 1'
  const allowed = may[folder] ?? []
  legal[`${folder}/allowed.ts`] = allowed.map(other => importOf(folder, other)).join('\n')
  const back = folders.find(other => may[other]?.includes(folder) && !allowed.includes(other))
  const other = back ?? folders.find(other => other !== folder && !allowed.includes(other))
  faults[`${folder}/forbidden.ts`] = importOf(folder, `${other}`)
}
for (const room of Object.keys(doors)) {
  const user = folders.find(folder => may[folder]?.includes(room))
  legal[`${room}/behind.ts`] = 'export const behind = 1'
  faults[`${user}/behind-${nameOf(room)}.ts`] = importOf(`${user}`, room, 'behind.ts')
}
for (const [row, names] of Object.values(only).entries()) {
  const source = names.map(
    name => `import '${name.replace('*', name === 'node:*' ? 'fs' : 'pool')}'`
  )
  legal[`${homes[row]}/package-${row}.ts`] = source.join('\n')
  faults[`${strangers[row]}/package-${row}.ts`] = `${source[0]}`
}

let reported: string[]

beforeAll(() => {
  reported = lint({ ...legal, ...faults })
})

test.for(Object.keys(faults))('reports the planted fault in %s', path => {
  expect(reported).toContain(path)
})

test('allows what the table of imports allows', () => {
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

function pathFrom(folder: string, other: string): string {
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
