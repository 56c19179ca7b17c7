import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../../..')

// the same files run on the server, in browsers, in a file without network and on the command line
test('evidence imports nothing but itself, pure rules and two packages', () => {
  const folder = join(root, 'src/core/evidence')
  const seen = new Set(readdirSync(folder).map(name => join(folder, name)))
  const packages = new Set<string>()
  for (const file of seen) {
    for (const target of importsOf(readFileSync(file, 'utf8'))) {
      if (target.startsWith('.')) seen.add(join(dirname(file), target))
      else packages.add(target.split('/').slice(0, 2).join('/'))
    }
  }
  const folders = new Set([...seen].map(file => dirname(relative(root, file))))
  expect([...folders].sort()).toEqual(['src/core', 'src/core/evidence', 'src/core/text'])
  expect([...packages].sort()).toEqual(['@noble/curves', '@noble/hashes'])
  for (const file of seen) {
    const code = withoutComments(readFileSync(file, 'utf8'))
    expect(code, file).not.toMatch(/\b(?:crypto|document|fetch|process|window)\b/)
    // tiles come from disks and networks
    if (!file.endsWith('/tiles.ts')) expect(code, file).not.toMatch(/\b(?:async|await)\b/)
  }
})

function importsOf(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}
