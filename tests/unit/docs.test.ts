import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '../../src/contract/kit/errors.ts'

const root = join(import.meta.dirname, '../..')
const pages = [
  ...readdirSync(root).filter(file => file.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.md'))
    .map(file => join('docs', file))
]

test.each(pages)('every link of %s leads to a file', page => {
  const text = readFileSync(join(root, page), 'utf8')
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:\/\//.test(target)) continue
    const [file = '', anchor] = target.split('#')
    const path = file === '' ? join(root, page) : join(root, dirname(page), decodeURI(file))
    expect(existsSync(path), `${page} → ${target}`).toBe(true)
    if (anchor !== undefined) expect(headingsOf(path), `${page} → ${target}`).toContain(anchor)
  }
})

test('every file that the architecture names without a link exists', () => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  const paths = [...text.matchAll(/`([\w-]+\/[\w/.-]+\.tsx?)`/g)].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(10)
  for (const path of paths) {
    const places = ['src', 'src/server'].map(folder => join(root, folder, path))
    expect(places.some(existsSync), path).toBe(true)
  }
})

test('every recipe can be found from CONTRIBUTING.md', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  for (const recipe of readdirSync(join(root, 'docs/recipes'))) {
    expect(text).toContain(`docs/recipes/${recipe}`)
  }
})

test('an endpoint is written in the six places of its recipe, and in no list of all endpoints', () => {
  const recipe = readFileSync(join(root, 'docs/recipes/add-an-endpoint.md'), 'utf8')
  const places = recipe
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(row => [...row.matchAll(/\]\(\.\.\/\.\.\/([^)]+)\)/g)].map(([, path = '']) => path))
    .filter(files => files.length > 0)
  expect(places).toHaveLength(6)
  for (const files of places) {
    expect(new Set(files.map(file => file.replace(/\/(en|fr)\//, '/'))).size).toBe(1)
  }
  const [, commands = ''] = /```sh\n(.*?)```/s.exec(recipe) ?? []
  const generated = commands.match(/tests\/api\/[\w/-]+\.test\.ts/g) ?? []
  expect(generated.length).toBeGreaterThan(5)
  const naming = ['src/contract', 'src/server', 'src/i18n', 'tests/helpers']
    .flatMap(filesIn)
    .concat(generated)
    .filter(file => /\baddGroupCategory\b/.test(readFileSync(join(root, file), 'utf8')))
  expect(naming.length).toBeGreaterThan(3)
  expect(places.flat()).toEqual(expect.arrayContaining(naming))
})

test('every command of the documents is one of package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, name = ''] of text.matchAll(/npm run (?:-s )?([\w:-]+)/g)) {
      expect(scripts, `${page}: npm run ${name}`).toHaveProperty([name])
    }
  }
})

test('every file of the tests that a recipe runs exists', () => {
  for (const recipe of readdirSync(join(root, 'docs/recipes'))) {
    const text = readFileSync(join(root, 'docs/recipes', recipe), 'utf8')
    for (const [path] of text.matchAll(/\b(?:tests|src)\/[\w/.-]+\.(?:ts|tsx|json|sql)\b/g)) {
      expect(statSync(join(root, path)).isFile(), `${recipe}: ${path}`).toBe(true)
    }
  }
})

test('every row of the specification names files that exist and tests that are in them', () => {
  const text = readFileSync(join(root, 'docs/specification.md'), 'utf8')
  const rows = text
    .split('\n')
    .filter(line => line.startsWith('| ') && !/^\| (?:rule|---) /.test(line))
    .map(line => line.slice(2, -2).split(' | '))
  expect(rows.length).toBeGreaterThan(70)
  for (const [rule = '', places = '', tests = '', ...more] of rows) {
    expect(more, rule).toEqual([])
    for (const path of pathsIn(places)) expect(existsSync(join(root, path)), path).toBe(true)
    const named = [...tests.matchAll(/`(tests\/[^`]+)`: (.+?)(?=; `tests|$)/g)]
    expect(named.map(([all]) => all).join('; '), rule).toBe(tests)
    expect(named.length, rule).toBeGreaterThan(0)
    for (const [, paths = '', titles = ''] of named) {
      const source = pathsIn(`\`${paths}\``).map(path => readFileSync(join(root, path), 'utf8'))
      for (const title of titles.split('; ')) {
        // a title may itself hold a semicolon, and its end may be left out
        const isThere = ["'", '"', '`', '; '].some(before => source.join().includes(before + title))
        expect(isThere, `${paths}: ${title}`).toBe(true)
      }
    }
  }
})

test('the recipe of a code follows one that exists', () => {
  const text = readFileSync(join(root, 'docs/recipes/add-an-error-code.md'), 'utf8')
  const [, code = ''] = /Example: `(\w+)`/.exec(text) ?? []
  expect(errorCodes).toHaveProperty(code)
  const [thrower = ''] = /src\/server\/domain\/[\w/-]+\.ts/.exec(text) ?? []
  expect(readFileSync(join(root, thrower), 'utf8'), thrower).toContain(`AppError('${code}'`)
})

/**
 * Returns the paths in the cell of a table: `` `src/{a,b}.ts` `` → `src/a.ts`, `src/b.ts`. A star
 * becomes `en`.
 */
function pathsIn(cell: string): string[] {
  return [...cell.matchAll(/`((?:src|tests)\/[^`]+)`/g)].flatMap(([, path = '']) => {
    const [whole, list = ''] = /\{([^}]+)\}/.exec(path) ?? []
    const paths = whole ? list.split(',').map(each => path.replace(whole, each)) : [path]
    return paths.map(each => each.replace('*', 'en'))
  })
}

/** Returns the anchors of the headings of a document: `## One of *them*` → `one-of-them` */
function headingsOf(path: string): string[] {
  const headings = readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-')
  )
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map(file => join(folder, file))
    .filter(file => statSync(join(root, file)).isFile())
}
