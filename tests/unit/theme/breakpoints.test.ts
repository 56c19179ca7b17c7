import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const allowed = [600, 960, 1280, 1920, 2560]

test('has the breakpoints of the specification, and no others', () => {
  const layers = readFileSync('src/theme/layers.css', 'utf8')
  const breakpoints = [...layers.matchAll(/--breakpoint-\w+: (\d+)px/g)].map(([, px]) => Number(px))
  expect(breakpoints).toEqual(allowed)
})

test('every condition on the width of the window has one of them', () => {
  const condition =
    /\((?:([\d.]+)(\w+) [<>]=? )?width(?: [<>]=? ([\d.]+)(\w+))?\)|\((?:min|max)-width: ([\d.]+)(\w+)\)/g
  const used = globSync('src/**/*.{css,ts,tsx,astro}').flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(condition)].flatMap(([, ...parts]) =>
      [0, 2, 4].flatMap(at => (parts[at] === undefined ? [] : `${parts[at]}${parts[at + 1]}`))
    )
  )
  expect(used.length).toBeGreaterThan(10)
  // before a breakpoint: Chromium has widths between two pixels
  const names = allowed.flatMap(px => [`${px}px`, `${px - 0.02}px`])
  expect(used.filter(width => !names.includes(width))).toEqual([])
})
