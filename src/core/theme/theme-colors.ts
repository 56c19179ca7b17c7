/** An absent color is that of the standard theme. `dark` makes the dark mode the default. */
export type ThemeColors = { dark: boolean } & {
  [role in 'background' | 'surface' | Accent]?: string | undefined
}

export type ThemeTokenName =
  | '--color-base-100'
  | '--color-base-200'
  | '--color-base-300'
  | '--color-base-content'
  | '--ink-soft'
  | '--line'
  | `--color-${Accent}`
  | `--color-${Accent}-content`
export type ThemeTokens = Record<ThemeTokenName, string>

/**
 * Keeps the hue of a company's colors, and changes lightness and chroma until the contrast is 4.5:1
 * for text and 3:1 for drawings: `#ff7a00` becomes `#bd5900` in light mode.
 */
export function themeTokens(colors: ThemeColors): { light: ThemeTokens; dark: ThemeTokens } {
  return { light: tokensOf(colors, light), dark: tokensOf(colors, dark) }
}

export interface ColorCorrection {
  colour: 'background' | 'surface' | Accent
  mode: 'light' | 'dark'
  original: string
  used: string
}

/**
 * Returns what would be hard to read. Background and surface count in the company's default mode
 * only, because the other mode always adapts them.
 */
export function colorCorrections(colors: ThemeColors): ColorCorrection[] {
  const tokens = themeTokens(colors)
  const own = colors.dark ? 'dark' : 'light'
  return (['light', 'dark'] as const).flatMap(mode =>
    (['background', 'surface', ...accents] as const).flatMap(colour => {
      const isSurface = colour === 'background' || colour === 'surface'
      const original = colors[colour]
      const used = tokens[mode][cssPropertyOf(colour)]
      const isChanged = original !== undefined && original !== used
      return isChanged && (!isSurface || mode === own) ? [{ colour, mode, original, used }] : []
    })
  )
}

/**
 * In no cascade layer, so that it overrides daisyUI's themes. Also hides pictures of the other
 * mode.
 */
export function themeCss(colors: ThemeColors): string {
  const tokens = themeTokens(colors)
  const inLight = block('light', tokens.light)
  const inDark = block('dark', tokens.dark)
  // A browser without a preference also reports "light", so a company's dark mode must not depend
  // on it.
  if (colors.dark)
    return `:root,[data-theme=vidimus-dark]{${inDark}}[data-theme=vidimus]{${inLight}}`
  return (
    `:root,[data-theme=vidimus]{${inLight}}` +
    `@media (prefers-color-scheme:dark){:root:not([data-theme]){${inDark}}}` +
    `[data-theme=vidimus-dark]{${inDark}}`
  )
}

/** `background` → `--color-base-200` */
export function cssPropertyOf(colour: ColorCorrection['colour']): ThemeTokenName {
  if (colour === 'background') return '--color-base-200'
  return colour === 'surface' ? '--color-base-100' : `--color-${colour}`
}

/** WCAG 2.2: 1 to 21. */
export function contrastRatio(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (lighter + 0.05) / (darker + 0.05)
}

const accents = ['primary', 'secondary', 'success', 'warning', 'error', 'info'] as const
type Accent = (typeof accents)[number]

type Mode = {
  desk: string
  sheet: string
  hairline: string
  ink: string
  inkSoft: string
  line: string
  // text on a surface that is filled with an accent color
  content: string
  accents: Record<Accent, string>
  // more contrast with text: lighter in light mode, darker in dark mode
  surfaceStep: 1 | -1
}

const light: Mode = {
  desk: '#f4f2f9',
  sheet: '#ffffff',
  hairline: '#e4e1eb',
  ink: '#231f2f',
  inkSoft: '#5c586a',
  line: '#878397',
  content: '#ffffff',
  accents: {
    primary: '#d24011',
    secondary: '#2158a7',
    success: '#15733c',
    warning: '#9a5a12',
    error: '#b61441',
    info: '#19699c'
  },
  surfaceStep: 1
}

const dark: Mode = {
  desk: '#14131a',
  sheet: '#1e1d25',
  hairline: '#2c2934',
  ink: '#eceaf0',
  inkSoft: '#a8a6b2',
  line: '#757282',
  content: '#171322',
  accents: {
    primary: '#f47249',
    secondary: '#76afee',
    success: '#5fce8c',
    warning: '#f1af57',
    error: '#f77c8b',
    info: '#6bbaf0'
  },
  surfaceStep: -1
}

const textContrast = 4.5
const controlContrast = 3
// leaves enough contrast for soft text, status text, hairlines and fills between the two colors
const surfaceContrast = 7
const lightnessStep = 0.005
const hairlineStep = 0.05
// A derived surface keeps a hint of the company's hue.
const maxDerivedChroma = 0.03

function tokensOf(colors: ThemeColors, mode: Mode): ThemeTokens {
  const isOwnMode = colors.dark === (mode === dark)
  const desk = surface(colors.background, mode.desk, mode, isOwnMode)
  const sheet = surface(colors.surface, mode.sheet, mode, isOwnMode)
  const on = (least: number) => [desk, sheet].map((color): Pair => [color, least])
  const accent = (role: Accent) =>
    correct(parsed(colors[role]) ?? mode.accents[role], -mode.surfaceStep, [
      // Links and the text of alerts are in these colors; primary is a fill or a drawing only.
      ...on(role === 'primary' ? controlContrast : textContrast),
      [mode.content, textContrast]
    ])
  return {
    '--color-base-100': sheet,
    '--color-base-200': desk,
    '--color-base-300':
      colors.background || colors.surface ? hairline(desk, sheet, mode) : mode.hairline,
    '--color-base-content': mode.ink,
    '--ink-soft': correct(mode.inkSoft, -mode.surfaceStep, on(textContrast)),
    '--line': correct(mode.line, -mode.surfaceStep, on(controlContrast)),
    '--color-primary': accent('primary'),
    '--color-primary-content': mode.content,
    '--color-secondary': accent('secondary'),
    '--color-secondary-content': mode.content,
    '--color-success': accent('success'),
    '--color-success-content': mode.content,
    '--color-warning': accent('warning'),
    '--color-warning-content': mode.content,
    '--color-error': accent('error'),
    '--color-error-content': mode.content,
    '--color-info': accent('info'),
    '--color-info-content': mode.content
  }
}

// The chosen color where it suits the mode, else its hue with the lightness of `standard` and a
// limited chroma.
function surface(
  given: string | undefined,
  standard: string,
  mode: Mode,
  isOwnMode: boolean
): string {
  const color = parsed(given)
  if (!color) return standard
  const suits = contrastRatio(color, mode.ink) > contrastRatio(color, mode.content)
  const { c, h } = toOklch(color)
  const start =
    isOwnMode && suits
      ? color
      : toHex({ l: toOklch(standard).l, c: Math.min(c, maxDerivedChroma), h })
  return correct(start, mode.surfaceStep, [[mode.ink, surfaceContrast]])
}

function hairline(desk: string, sheet: string, mode: Mode): string {
  const { l, c, h } = toOklch(desk)
  const other = toOklch(sheet).l
  const nearest = mode.surfaceStep > 0 ? Math.min(l, other) : Math.max(l, other)
  return toHex({ l: nearest - mode.surfaceStep * hairlineStep, c, h })
}

type Pair = [color: string, least: number]

// `direction` 1 is lighter, -1 darker
function correct(color: string, direction: number, pairs: Pair[]): string {
  const { l, c, h } = toOklch(color)
  let corrected = color
  for (
    let step = 1;
    !pairs.every(([other, least]) => contrastRatio(corrected, other) >= least);
    step++
  ) {
    const lightness = l + direction * step * lightnessStep
    if (lightness < -lightnessStep || lightness > 1 + lightnessStep)
      throw new Error(`contrast: nothing near ${color} can be read`)
    corrected = toHex({ l: Math.min(1, Math.max(0, lightness)), c, h })
  }
  return corrected
}

function block(scheme: 'light' | 'dark', tokens: ThemeTokens): string {
  const declarations = Object.entries(tokens).map(([token, color]) => `${token}:${color}`)
  // how the pictures of each mode are displayed
  const [inLight, inDark] = scheme === 'light' ? ['block', 'none'] : ['none', 'block']
  const pictures = [`--in-light:${inLight}`, `--in-dark:${inDark}`]
  return [`color-scheme:${scheme}`, ...pictures, ...declarations].join(';')
}

// Only this format may enter the CSS.
function parsed(color: string | undefined): string | undefined {
  if (color !== undefined && !/^#[0-9a-f]{6}$/.test(color))
    throw new Error('contrast: a colour is written #rrggbb')
  return color
}

type Oklch = { l: number; c: number; h: number }
type Triple = [number, number, number]

function linearRgb(color: string): Triple {
  const channel = (at: number) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [channel(1), channel(3), channel(5)]
}

function luminance(color: string): number {
  const [r, g, b] = linearRgb(color)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

// The matrices are those of Björn Ottosson's OKLab, as CSS Color 4 uses them.
function toOklch(color: string): Oklch {
  const [r, g, b] = linearRgb(color)
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const medium = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const x = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short
  const y = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short
  return {
    l: 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    c: Math.hypot(x, y),
    h: Math.atan2(y, x)
  }
}

function oklchToLinearRgb({ l, c, h }: Oklch): Triple {
  const x = c * Math.cos(h)
  const y = c * Math.sin(h)
  const long = (l + 0.3963377774 * x + 0.2158037573 * y) ** 3
  const medium = (l - 0.1055613458 * x - 0.0638541728 * y) ** 3
  const short = (l - 0.0894841775 * x - 1.291485548 * y) ** 3
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short
  ]
}

// reduces the chroma and keeps hue and lightness
function toHex(color: Oklch): string {
  let inside = 0
  let outside = color.c
  if (isInGamut(color)) inside = color.c
  else
    for (let i = 0; i < 20; i++) {
      const c = (inside + outside) / 2
      if (isInGamut({ ...color, c })) inside = c
      else outside = c
    }
  const channels = oklchToLinearRgb({ ...color, c: inside }).map(value => {
    const clipped = Math.min(1, Math.max(0, value))
    const encoded = clipped <= 0.0031308 ? clipped * 12.92 : 1.055 * clipped ** (1 / 2.4) - 0.055
    return Math.round(encoded * 255)
      .toString(16)
      .padStart(2, '0')
  })
  return `#${channels.join('')}`
}

function isInGamut(color: Oklch): boolean {
  const tolerance = 0.0001
  return oklchToLinearRgb(color).every(value => value >= -tolerance && value <= 1 + tolerance)
}
