import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from 'recheck'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

// G-04

const root = join(import.meta.dirname, '../..')
const files = [...sourcesOf('src'), 'public/boot.js']
const literals = files.flatMap(file =>
  literalsOf(readFileSync(join(root, file), 'utf8')).map(literal => ({ file, ...literal }))
)

describe('no text makes a pattern of ours slow', () => {
  test('and every literal is looked at', () => {
    expect(files.length).toBeGreaterThan(100)
    expect(literals.length).toBeGreaterThan(60)
    expect(literalsOf('const a = /a+$/u; b.split(/,/)')).toEqual([
      { source: 'a+$', flags: 'u' },
      { source: ',', flags: '' }
    ])
  })

  test('and a slow one would be found', async () => {
    expect((await check('^(a|a)*$', '')).status).toBe('vulnerable')
  })

  test.each(literals)('$file: /$source/$flags', async ({ source, flags }) => {
    const found = await check(source, flags, { timeout: 20_000, recallTimeout: -1 })
    if (found.status !== 'vulnerable') return
    expect(bounded, `/${source}/ is ${found.complexity.summary}: it needs another form`).toContain(
      source
    )
  })
})

/** Patterns whose input is so short, wherever it comes from, that a square of it is nothing. */
const bounded: string[] = []

function sourcesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(ts|tsx|astro)$/.test(name))
    .map(name => join(folder, name))
}

function literalsOf(text: string): { source: string; flags: string }[] {
  const found: { source: string; flags: string }[] = []
  const code = text.startsWith('---') ? (text.split('\n---')[0] ?? '').slice(3) : text
  const file = ts.createSourceFile('x.tsx', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX)
  const walk = (node: ts.Node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({ source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    }
    ts.forEachChild(node, walk)
  }
  walk(file)
  return found
}
