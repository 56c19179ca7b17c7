import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const files = ['tests', 'bench'].flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name).replaceAll('\\', '/'))
)
const cited = new Map(files.map(file => [file, rowsIn(read(file))]))
const rows = read('docs/security.md')
  .split('\n')
  .filter(line => /^\| [A-G]-/.test(line))
  .map(line => {
    const [name = '', must = '', tests = '', soak = ''] = line.slice(2, -1).split('|')
    const paths = [...tests.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
    return { name: name.trim(), must: must.trim(), paths, soak: soak.trim() }
  })

test('every row of docs/security.md stands there once and names tests that cite it', () => {
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
  for (const { name, must, paths } of rows) {
    expect(must, name).not.toBe('')
    expect(paths.length, name).toBeGreaterThan(0)
    for (const path of paths) expect(cited.get(path) ?? [], path).toContain(name)
  }
})

test('every row that a test or a soak run cites stands in docs/security.md', () => {
  const known = rows.map(({ name }) => name)
  for (const [file, names] of cited) {
    for (const name of names) expect(known, file).toContain(name)
  }
  expect(rows.filter(({ soak }) => soak === 'yes').map(({ name }) => name)).toEqual(
    [...(cited.get('bench/soak/main.ts') ?? [])].sort()
  )
})

/**
 * Returns the rows of docs/security.md that a text names: `// security.md A-01` → `A-01`. Ignores
 * other words, such as `A-001` and `UTC-03`.
 */
function rowsIn(text: string): string[] {
  return [...new Set(text.match(/(?<!\w)[A-G]-\d\d(?!\d)/g))]
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
