import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const tokens = readFileSync('src/theme/tokens.css', 'utf8')

test('buttons and cards are flat, inputs are outlined and rounded, in both schemes', () => {
  const valuesOf = (name: string) =>
    [...tokens.matchAll(new RegExp(`--${name}: ([^;]+);`, 'g'))].map(([, value]) => value)
  expect(valuesOf('depth')).toEqual(['0', '0'])
  expect(valuesOf('border')).toEqual(['1px', '1px'])
  expect(valuesOf('radius-field')).toEqual(['0.75rem', '0.75rem'])
})

test('nothing but rings and edges within has a shadow', () => {
  const styles = globSync('src/**/*.{css,ts}').flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/(?:box-shadow|--shadow[\w-]*): *([^;]+);/g)].map(
      ([, value]) => value
    )
  )
  expect(styles.filter(value => !/^(?:none|inset |0 0 0 \d)/.test(value ?? ''))).toEqual([])
  const parts = globSync('src/**/*.{tsx,astro}').filter(file =>
    /class(?:Name)?="[^"]*\b(?:drop-)?shadow\b(?!-none)/.test(readFileSync(file, 'utf8'))
  )
  expect(parts).toEqual([])
})

test('every alert is outlined', () => {
  const classes = globSync('src/**/*.{tsx,astro}').flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/class(?:Name)?="(alert\b[^"]*)"/g)].map(
      ([, list]) => list
    )
  )
  expect(classes.length).toBeGreaterThan(5)
  expect(classes.filter(list => !/\balert-outline\b/.test(list ?? ''))).toEqual([])
})
