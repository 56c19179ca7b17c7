import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { longestSpecs } from '../helpers/e2e/longest-specs.ts'
import { longestTestFiles } from '../helpers/vitest/longest-first.ts'

const files = readdirSync(join(import.meta.dirname, '..'), { recursive: true, encoding: 'utf8' })
const endingWith = (end: string) => files.filter(file => `/tests/${file}`.endsWith(end))

test('every file that runs first exists once', () => {
  for (const name of longestTestFiles) expect(endingWith(`/${name}.test.ts`), name).toHaveLength(1)
  for (const name of longestSpecs) expect(endingWith(name.replace('**', '')), name).toHaveLength(1)
})
