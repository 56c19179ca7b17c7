import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '..')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
  name.endsWith('.test.ts')
)

test('every test that draws at random takes its seed from one place', () => {
  expect(files.length).toBeGreaterThan(100)
  const roaming = files.filter(name => {
    const text = readFileSync(join(folder, name), 'utf8')
    return /from '(fast-check|.*\/random\.ts)'/.test(text) && !/'.*\/soak\.ts'/.test(text)
  })
  expect(roaming).toEqual([])
})
