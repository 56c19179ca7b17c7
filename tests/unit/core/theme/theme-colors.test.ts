import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  contrastRatio,
  type ThemeColors,
  type ThemeTokens,
  themeCss,
  themeTokens
} from '../../../../src/core/theme/theme-colors.ts'
import '../../../helpers/soak.ts'

const light: ThemeTokens = {
  '--color-base-100': '#ffffff',
  '--color-base-200': '#f4f2f9',
  '--color-base-300': '#e4e1eb',
  '--color-base-content': '#231f2f',
  '--ink-soft': '#5c586a',
  '--line': '#878397',
  '--color-primary': '#d24011',
  '--color-primary-content': '#ffffff',
  '--color-secondary': '#2158a7',
  '--color-secondary-content': '#ffffff',
  '--color-success': '#15733c',
  '--color-success-content': '#ffffff',
  '--color-warning': '#9a5a12',
  '--color-warning-content': '#ffffff',
  '--color-error': '#b61441',
  '--color-error-content': '#ffffff',
  '--color-info': '#19699c',
  '--color-info-content': '#ffffff'
}
const dark: ThemeTokens = {
  '--color-base-100': '#1e1d25',
  '--color-base-200': '#14131a',
  '--color-base-300': '#2c2934',
  '--color-base-content': '#eceaf0',
  '--ink-soft': '#a8a6b2',
  '--line': '#757282',
  '--color-primary': '#f47249',
  '--color-primary-content': '#171322',
  '--color-secondary': '#76afee',
  '--color-secondary-content': '#171322',
  '--color-success': '#5fce8c',
  '--color-success-content': '#171322',
  '--color-warning': '#f1af57',
  '--color-warning-content': '#171322',
  '--color-error': '#f77c8b',
  '--color-error-content': '#171322',
  '--color-info': '#6bbaf0',
  '--color-info-content': '#171322'
}

const anyColor = fc
  .integer({ min: 0, max: 0xffffff })
  .map(value => `#${value.toString(16).padStart(6, '0')}`)
const anyColors: fc.Arbitrary<ThemeColors> = fc.record(
  {
    dark: fc.boolean(),
    background: anyColor,
    surface: anyColor,
    primary: anyColor,
    secondary: anyColor,
    success: anyColor,
    warning: anyColor,
    error: anyColor,
    info: anyColor
  },
  { requiredKeys: ['dark'] }
)

describe('a theme', () => {
  test('without colors is the product’s own palette, in both modes', () => {
    expect(themeTokens({ dark: false })).toEqual({ light, dark })
    expect(themeTokens({ dark: true })).toEqual({ light, dark })
  })

  test('keeps colors that can be read, and every color it was not given', () => {
    const tokens = themeTokens({ dark: false, primary: '#0a7d4f', background: '#eef6f0' })
    expect(tokens.light).toEqual({
      ...light,
      '--color-primary': '#0a7d4f',
      '--color-base-200': '#eef6f0',
      '--color-base-300': '#dee5df'
    })
    expect(themeTokens({ dark: true, background: '#0b1f3a' }).dark['--color-base-200']).toBe(
      '#0b1f3a'
    )
  })

  test('darkens an orange until white text can be read on it', () => {
    expect(themeTokens({ dark: false, primary: '#ff7a00' }).light['--color-primary']).toBe(
      '#bd5900'
    )
  })

  test('stays light in light mode and dark in dark mode, whatever the background', () => {
    for (const background of ['#000000', '#808080', '#ffffff', '#ff0000', '#ffff00', '#0000ff'])
      for (const isDark of [false, true]) {
        const tokens = themeTokens({ dark: isDark, background, surface: background })
        expect(contrastRatio(tokens.light['--color-base-200'], '#000000')).toBeGreaterThan(7)
        expect(contrastRatio(tokens.dark['--color-base-200'], '#ffffff')).toBeGreaterThan(7)
      }
  })

  test('has no pair that cannot be read, for 1,000 random themes', () => {
    fc.assert(
      fc.property(anyColors, colors => {
        const { light: inLight, dark: inDark } = themeTokens(colors)
        expect([...failingPairs(inLight), ...failingPairs(inDark)]).toEqual([])
      }),
      { numRuns: 1_000 }
    )
  })

  test('has none for 1,000 random single colors either', () => {
    fc.assert(
      fc.property(anyColor, fc.boolean(), (primary, isDark) => {
        const tokens = themeTokens({ dark: isDark, primary, secondary: primary })
        expect([...failingPairs(tokens.light), ...failingPairs(tokens.dark)]).toEqual([])
      }),
      { numRuns: 1_000 }
    )
  })

  test.each([
    '',
    'red',
    '#fff',
    '#FFFFFF',
    '#ffffff ',
    '#fffffff',
    '#ffffff\n',
    'rgb(0,0,0)',
    'var(--x)',
    '#ffffff}body{display:none',
    '</style><script>'
  ])('refuses %j as a colour', color => {
    for (const role of ['background', 'surface', 'primary', 'info'])
      expect(() => themeCss({ dark: false, [role]: color })).toThrow('#rrggbb')
  })
})

describe('the style of a page', () => {
  test('is light by default and follows the visitor’s preference', () => {
    const css = themeCss({ dark: false })
    expect(css).toBe(
      `:root,[data-theme=vidimus]{${declarations('light', light)}}` +
        `@media (prefers-color-scheme:dark){:root:not([data-theme]){${declarations('dark', dark)}}}` +
        `[data-theme=vidimus-dark]{${declarations('dark', dark)}}`
    )
  })

  test('is dark by default when the company says so, and light when the visitor says so', () => {
    expect(themeCss({ dark: true })).toBe(
      `:root,[data-theme=vidimus-dark]{${declarations('dark', dark)}}` +
        `[data-theme=vidimus]{${declarations('light', light)}}`
    )
  })

  test('holds nothing that could end the style element, and stays small', () => {
    fc.assert(
      fc.property(anyColors, colors => {
        expect(themeCss(colors)).toMatch(/^[a-z0-9:[\]=,{}()@;# -]+$/)
        expect(themeCss(colors).length).toBeLessThan(2_000)
      })
    )
  })
})

test('measures contrast as WCAG does', () => {
  expect(contrastRatio('#000000', '#ffffff')).toBe(21)
  expect(contrastRatio('#ffffff', '#000000')).toBe(21)
  expect(contrastRatio('#777777', '#777777')).toBe(1)
  expect(contrastRatio('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
})

const accents = ['primary', 'secondary', 'success', 'warning', 'error', 'info'] as const

function failingPairs(tokens: ThemeTokens): string[] {
  const surfaces = [tokens['--color-base-100'], tokens['--color-base-200']]
  const pairs: [string, string, number][] = [
    [tokens['--color-base-content'], tokens['--color-base-300'], 4.5]
  ]
  for (const surface of surfaces) {
    pairs.push([tokens['--color-base-content'], surface, 4.5])
    pairs.push([tokens['--ink-soft'], surface, 4.5])
    pairs.push([tokens['--line'], surface, 3])
    for (const accent of accents)
      pairs.push([tokens[`--color-${accent}`], surface, accent === 'primary' ? 3 : 4.5])
  }
  for (const accent of accents)
    pairs.push([tokens[`--color-${accent}-content`], tokens[`--color-${accent}`], 4.5])
  return pairs
    .filter(([a, b, least]) => contrast(a, b) < least)
    .map(([a, b, least]) => `${a} on ${b}: ${contrast(a, b).toFixed(2)} < ${least}`)
}

// Written again from WCAG 2.2, so that the measure does not judge itself.
function contrast(a: string, b: string): number {
  const relative = (color: string) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
      const value = Number(`0x${color.slice(1 + 2 * i, 3 + 2 * i)}`) / 255
      return sum + weight * (value > 0.04045 ? ((value + 0.055) / 1.055) ** 2.4 : value / 12.92)
    }, 0)
  const [first, second] = [relative(a) + 0.05, relative(b) + 0.05]
  return Math.max(first, second) / Math.min(first, second)
}

function declarations(scheme: string, tokens: ThemeTokens): string {
  const pictures =
    scheme === 'light' ? '--in-light:block;--in-dark:none' : '--in-light:none;--in-dark:block'
  return [
    `color-scheme:${scheme}`,
    pictures,
    ...Object.entries(tokens).map(pair => pair.join(':'))
  ].join(';')
}
