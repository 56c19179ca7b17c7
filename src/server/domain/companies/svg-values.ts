/** `what` quotes the part from the file. */
export class RefusedPart extends Error {
  readonly what: string
  readonly rule: 'svg' | 'svg_cost' | 'svg_entities'

  constructor(what: string, rule: RefusedPart['rule'] = 'svg') {
    super(what)
    this.what = what.replace(/\p{C}/gu, '').slice(0, 80)
    this.rule = rule
  }
}

// design tools name elements in the language of the person: "Dégradé_sans_nom_2"
const idLetters = String.raw`[\p{L}\p{M}\p{N}_.\-]{1,100}`

// `url(#a)`
export const reference: RegExp = new RegExp(
  String.raw`url\(\s?(?:#(${idLetters})|'#(${idLetters})'|"#(${idLetters})")\s?\)`,
  'u'
)
// `#a`
export const fragment: RegExp = new RegExp(`^#(${idLetters})$`, 'u')

/** `'url(#a) red'` → `['a']` */
export function referencesIn(value: string): string[] {
  return [...value.matchAll(new RegExp(reference, 'gu'))].map(([, a, b, c]) => a ?? b ?? c ?? '')
}

/**
 * The only reference that loads nothing from outside is `url(#id)`. CSS escapes and comments could
 * hide a forbidden one.
 */
export function isHarmless(value: string): boolean {
  if (/[\\<]|\/\*|@|javascript:|data:|\p{Cf}/iu.test(value)) return false
  if (/expression\s*\(|image(?:-set)?\s*\(|src\s*\(|gradient\s*\(/i.test(value)) return false
  const addresses = value.match(/url\s*\(/gi)?.length ?? 0
  return addresses === referencesIn(value).length
}

export const drawingAttributes: ReadonlySet<string> = new Set(
  `x y cx cy r rx ry d width height transform transform-origin
   fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin
   stroke-miterlimit stroke-dasharray stroke-dashoffset color opacity display visibility overflow
   clip-path clip-rule mask mask-type filter flood-color flood-opacity lighting-color
   color-interpolation color-interpolation-filters paint-order vector-effect shape-rendering
   text-rendering image-rendering mix-blend-mode isolation stop-color stop-opacity
   marker-start marker-mid marker-end font-family font-size font-size-adjust font-stretch font-style
   font-variant font-weight letter-spacing word-spacing text-anchor text-decoration
   dominant-baseline alignment-baseline baseline-shift writing-mode direction unicode-bidi
   font-kerning`.split(/\s+/)
)
