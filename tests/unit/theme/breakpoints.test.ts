import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('has the breakpoints of the specification, and no others', () => {
  const layers = readFileSync('src/theme/layers.css', 'utf8')
  const breakpoints = [...layers.matchAll(/--breakpoint-\w+: (\d+)px/g)].map(([, px]) => Number(px))
  expect(breakpoints).toEqual([600, 960, 1280, 1920, 2560])
  const used = readFileSync('src/theme/shell.css', 'utf8').matchAll(
    /(\d+)px (?:<=|>=) width|width (?:<|>=) (\d+)px/g
  )
  for (const [, lower, upper] of used) {
    // below 480 px a badge hangs from the bar, nothing else changes
    expect([480, ...breakpoints]).toContain(Number(lower ?? upper))
  }
})
