import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '../../src/contract/errors.ts'

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

test('every recipe can be found from CONTRIBUTING.md', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  for (const recipe of readdirSync(join(root, 'docs/recipes'))) {
    expect(text).toContain(`docs/recipes/${recipe}`)
  }
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

test('the recipe of a code follows one that exists', () => {
  const text = readFileSync(join(root, 'docs/recipes/add-an-error-code.md'), 'utf8')
  const [, code = ''] = /Followed here: `(\w+)`/.exec(text) ?? []
  expect(errorCodes).toHaveProperty(code)
  const [thrower = ''] = /src\/server\/domain\/[\w-]+\.ts/.exec(text) ?? []
  expect(readFileSync(join(root, thrower), 'utf8'), thrower).toContain(`AppError('${code}'`)
})

/** `## One of *them*` → `one-of-them` */
function headingsOf(path: string): string[] {
  const headings = readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-')
  )
}
