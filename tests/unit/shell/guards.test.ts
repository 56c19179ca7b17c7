import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guardNames } from '../../../src/layouts/guards.ts'

test('knows the guard of every page', () => {
  const pages = readdirSync('src/pages', { recursive: true, encoding: 'utf8' })
  const files = pages.filter(path => path.endsWith('.astro'))
  expect(files.length).toBeGreaterThan(0)
  for (const path of files) {
    const [, guard] = /guard="([^"]*)"/.exec(readFileSync(`src/pages/${path}`, 'utf8')) ?? []
    expect(guardNames, path).toContain(guard)
  }
})
