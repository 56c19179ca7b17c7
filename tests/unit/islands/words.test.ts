import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { textsOf } from '../../../scripts/texts.ts'
import { FileName } from '../../../src/contract/deposits.ts'
import { fieldErrors } from '../../../src/contract/kit/field-errors.ts'

const namespaces = Object.keys(textsOf('en'))
const pages = readdirSync('src/pages', { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.astro'))
  .map(path => ({ path, text: readFileSync(join('src/pages', path), 'utf8') }))
  .filter(({ text }) => text.includes('islands/'))

describe('gives the island exactly the words that its parts use', () => {
  test.each(pages)('$path', ({ path, text }) => {
    const [, given = ''] = /messages=\{islandMessages\(\s*locale,\s*([^)]+)\)\}/.exec(text) ?? []
    const used = new Set<string>()
    const [island = ''] = importsOf(join('src/pages', path), text)
    for (const file of filesOf(island)) for (const name of namespacesIn(file)) used.add(name)
    // a part of a namespace, such as `users.list`, counts as the namespace
    const names = [...given.matchAll(/'(\w+)/g)].map(([, name = '']) => name)
    expect([...new Set(names)].sort()).toEqual([...used].sort())
  })
})

test('gives the page of deposits the text of each rule that a file name can break', () => {
  const names = ['', 'a'.repeat(256), 'e\u0301', '\ud800', 'a\u0007']
  const broken = names.flatMap(name => {
    const { error } = FileName.safeParse(name)
    return Object.values(error ? fieldErrors(error) : {}).map(({ rule }) => rule)
  })
  const page = pages.find(({ path }) => path === '[locale]/deposit.astro')
  const given = [...(page?.text ?? '').matchAll(/'fields\.(\w+)'/g)].map(([, rule]) => rule)
  expect(given.sort()).toEqual([...new Set(broken)].sort())
})

/**
 * Returns `path` and the paths of all files of `islands` that it imports, directly or indirectly,
 * also by `import()`.
 */
function filesOf(path: string, known = new Set<string>()): Set<string> {
  known.add(path)
  for (const other of importsOf(path, readFileSync(path, 'utf8'))) {
    if (!known.has(other)) filesOf(other, known)
  }
  return known
}

function importsOf(path: string, text: string): string[] {
  const named = text.matchAll(/(?:from|import\()\s*'(\.[^']+\.tsx?)'/g)
  return [...named]
    .map(([, name = '']) => join(dirname(path), name))
    .filter(file => file.startsWith('src/islands/'))
}

/**
 * Returns the namespaces of the translation keys in a file: `t('verify.zone')`,
 * t(`errors.${code}`).
 */
function namespacesIn(path: string): string[] {
  const keys = readFileSync(path, 'utf8')
    .replace(/\/\*.*?\*\//gs, '')
    .matchAll(/(?<=['`])(\w+)\.[\w$]/g)
  return [...keys].map(([, name = '']) => name).filter(name => namespaces.includes(name))
}
