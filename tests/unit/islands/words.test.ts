import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { textsOf } from '../../../scripts/texts.ts'
import { FileName } from '../../../src/contract/deposits.ts'
import { fieldErrors } from '../../../src/contract/kit/field-errors.ts'

const texts = textsOf('en')
const namespaces = Object.keys(texts)
const pages = readdirSync('src/pages', { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.astro'))
  .map(path => ({ path, text: readFileSync(join('src/pages', path), 'utf8') }))
  .filter(({ text }) => text.includes('islands/'))

describe('gives the island exactly the words that its parts use', () => {
  test.each(pages)('$path', ({ path, text }) => {
    const [, list = ''] = /messages=\{islandMessages\(\s*locale,\s*([^)]+)\)\}/.exec(text) ?? []
    const given = [...list.matchAll(/'([\w.]+)'/g)].map(([, name = '']) => name)
    const [island = ''] = importsOf(join('src/pages', path), text)
    const used = new Set([...filesOf(island)].flatMap(keysIn))
    const names = given.map(namespaceOf)
    expect([...new Set(names)].sort()).toEqual([...new Set([...used].map(namespaceOf))].sort())
    // where a page gives parts of a namespace, such as `users.list`, none that is used is missing
    const parts = [...used].filter(key => !given.includes(namespaceOf(key)) && isPart(key))
    expect(parts.filter(part => !given.includes(part))).toEqual([])
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
 * Returns the translation keys in a file, without what follows their second part: `verify.zone` for
 * t('verify.zone.title'), `errors.` for t(`errors.${code}`).
 */
function keysIn(path: string): string[] {
  const keys = readFileSync(path, 'utf8')
    .replace(/\/\*.*?\*\//gs, '')
    .matchAll(/(?<=['`])\w+\.(?:\w+|(?=\$))/g)
  return [...keys].map(([key]) => key).filter(key => namespaces.includes(namespaceOf(key)))
}

function namespaceOf(key: string): string {
  return key.split('.')[0] ?? ''
}

/** Returns whether a key names a text or a group of texts, and not only the beginning of one. */
function isPart(key: string): boolean {
  const [namespace = '', name = ''] = key.split('.')
  return Object.hasOwn(Object(texts[namespace]), name)
}
