import { SaxesParser, type SaxesTagNS } from 'saxes'
import { AppError } from '../../../contract/kit/errors.ts'

const maxBytes = 64 * 1024
const maxElements = 2000
const maxDepth = 64

/**
 * Checks a logo or favicon and returns its SVG in a canonical form. Throws `svg_refused` if the
 * text is larger than 64 KB, is not well-formed XML, or contains an element, an attribute or a
 * value that is not allowed. The error names the refused part. Never removes a forbidden part to
 * make a picture acceptable.
 */
export function canonicalizeSvg(text: string, field: 'logo' | 'logo_dark' | 'favicon'): string {
  const refuse = (what: string, detail: string) =>
    new AppError('svg_refused', `The ${field} holds ${detail}`, {
      fields: { [field]: { rule: 'svg', limit: what, detail: `an SVG without ${detail}` } }
    })
  if (Buffer.byteLength(text) > maxBytes) throw refuse('> 64 KB', `more than ${maxBytes} bytes`)
  // the parser would join half of a surrogate pair with the next character and so read a different
  // file
  if (!text.isWellFormed()) throw refuse('XML', 'half a character')
  try {
    return write(text)
  } catch (cause) {
    if (!(cause instanceof Refused)) throw cause
    throw refuse(cause.what, cause.what)
  }
}

/**
 * Checks the pictures of a theme. Returns the theme with each picture in its canonical form. Throws
 * `svg_refused` for a picture that is not allowed.
 */
export function canonicalizeThemePictures<
  T extends { logo: string; logo_dark?: string | undefined; favicon: string }
>(theme: T): T {
  const { logo_dark } = theme
  return {
    ...theme,
    logo: canonicalizeSvg(theme.logo, 'logo'),
    ...(logo_dark !== undefined && { logo_dark: canonicalizeSvg(logo_dark, 'logo_dark') }),
    favicon: canonicalizeSvg(theme.favicon, 'favicon')
  }
}

/** Thrown for a part of a picture that is not allowed. `what` quotes the part from the file. */
class Refused extends Error {
  readonly what: string

  constructor(what: string) {
    super(what)
    this.what = what.replace(/\p{C}/gu, '').slice(0, 80)
  }
}

const svgNamespace = 'http://www.w3.org/2000/svg'
const xlinkNamespace = 'http://www.w3.org/1999/xlink'

function write(text: string): string {
  const parser = new SaxesParser({ xmlns: true, position: false })
  let written = ''
  let open = false
  let depth = 0
  let elements = 0

  // the ids of the elements that are open, that contain a <use>, and that a <use> refers to
  const ancestors: (string | undefined)[] = []
  const withUse = new Set<string | undefined>()
  const used = new Set<string>()

  const close = () => {
    if (open) written += '>'
    open = false
  }
  parser.on('error', () => {
    throw new Refused('XML')
  })
  parser.on('xmldecl', ({ encoding, version }) => {
    if (version !== '1.0' || (encoding ?? 'UTF-8').toUpperCase() !== 'UTF-8') {
      throw new Refused('<?xml?>')
    }
  })
  parser.on('doctype', () => {
    throw new Refused('<!DOCTYPE>')
  })
  parser.on('processinginstruction', ({ target }) => {
    throw new Refused(`<?${target}?>`)
  })
  parser.on('cdata', () => {
    throw new Refused('<![CDATA[')
  })
  parser.on('opentag', tag => {
    depth++
    elements++
    if (depth > maxDepth) throw new Refused(`> ${maxDepth} levels`)
    if (elements > maxElements) throw new Refused(`> ${maxElements} elements`)
    refuseElement(tag, depth)
    ancestors.push(tag.attributes['id']?.value)
    if (tag.local === 'use') {
      for (const id of ancestors) withUse.add(id)
      for (const { local, value } of Object.values(tag.attributes)) {
        if (local === 'href') used.add(value.slice(1))
      }
    }
    close()
    written += `<${tag.local}${depth === 1 ? ` xmlns="${svgNamespace}"` : ''}${attributesOf(tag)}`
    open = true
  })
  parser.on('closetag', tag => {
    depth--
    ancestors.pop()
    written += open ? '/>' : `</${tag.local}>`
    open = false
  })
  parser.on('text', content => {
    const kept = content.trim()
    if (depth === 0 || kept === '') return
    close()
    written += escapeXml(content)
  })
  // saxes skips comments, so the result contains none
  parser.write(text).close()
  if (elements === 0) throw new Refused('XML')
  // ten nested levels with ten copies each would draw ten billion shapes
  const nested = [...used].find(id => withUse.has(id))
  if (nested !== undefined) throw new Refused(`<use> of #${nested}`)
  return written
}

function refuseElement(tag: SaxesTagNS, depth: number): void {
  const isKnown = tag.uri === svgNamespace && tag.prefix === '' && allowedElements.has(tag.local)
  if (!isKnown || (depth === 1) !== (tag.local === 'svg')) throw new Refused(`<${tag.name}>`)
}

function attributesOf(tag: SaxesTagNS): string {
  let hasHref = false
  return Object.values(tag.attributes)
    .filter(({ prefix, name }) => prefix !== 'xmlns' && name !== 'xmlns')
    .map(({ name, local, prefix, uri, value }) => {
      const shown = `${name} in <${tag.name}>`
      const isHref = local === 'href' && (prefix === '' || uri === xlinkNamespace)
      if (isHref) {
        // `href` and `xlink:href` are both written as `href`, and an element must not have the same
        // attribute twice
        if (hasHref) throw new Refused(shown)
        hasHref = true
        if (!referring.has(tag.local) || !/^#[\w.-]+$/.test(value)) throw new Refused(shown)
        return ` href="${value}"`
      }
      if (prefix !== '' || !allowedAttributes.has(local)) throw new Refused(shown)
      if (!isHarmless(local, value)) throw new Refused(shown)
      return ` ${local}="${escapeXml(value)
        .replaceAll('"', '&quot;')
        .replace(/[\t\n]/g, numbered)}"`
    })
    .join('')
}

/**
 * Returns whether the value of an attribute loads nothing from outside the picture. The only
 * allowed reference is `url(#id)`. CSS escapes and comments are refused, because they could hide a
 * forbidden reference.
 */
function isHarmless(name: string, value: string): boolean {
  if (/[\\<]|\/\*|@|javascript:|data:|\p{Cf}/iu.test(value)) return false
  if (/expression\s*\(|image(?:-set)?\s*\(|src\s*\(/i.test(value)) return false
  if (name === 'style' && !/^[\w\s:;#.,%()'"+-]*$/.test(value)) return false
  const addresses = value.match(/url\s*\(/gi)?.length ?? 0
  return addresses === (value.match(/url\(\s?(['"]?)#[\w.-]{1,100}\1\s?\)/g)?.length ?? 0)
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/\r/g, numbered)
}

/** Returns a character as a numeric XML reference: `'\n'` → `'&#10;'` */
function numbered(char: string): string {
  return `&#${char.codePointAt(0)};`
}

/**
 * The elements that a logo or favicon may contain: shapes, paint and simple filters. On purpose
 * there are no scripts, links, foreign content, animations, style sheets or raster images.
 */
const allowedElements = new Set(
  `svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan textPath
   linearGradient radialGradient stop clipPath mask pattern marker filter feBlend feColorMatrix
   feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
   feGaussianBlur feMerge feMergeNode feMorphology feOffset feTurbulence`.split(/\s+/)
)

const referring = new Set(['use', 'textPath', 'linearGradient', 'radialGradient', 'pattern'])

const allowedAttributes = new Set(
  `id class style viewBox width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points dx dy rotate
   transform version preserveAspectRatio role aria-label aria-hidden aria-labelledby focusable lang
   fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin
   stroke-miterlimit stroke-dasharray stroke-dashoffset color opacity display visibility overflow
   clip-path clip-rule clipPathUnits mask mask-type maskUnits maskContentUnits filter filterUnits
   primitiveUnits flood-color flood-opacity lighting-color color-interpolation
   color-interpolation-filters paint-order vector-effect shape-rendering text-rendering
   image-rendering mix-blend-mode isolation transform-origin
   gradientUnits gradientTransform spreadMethod offset stop-color stop-opacity
   patternUnits patternContentUnits patternTransform
   marker-start marker-mid marker-end markerUnits markerWidth markerHeight orient refX refY
   font-family font-size font-size-adjust font-stretch font-style font-variant font-weight
   letter-spacing word-spacing text-anchor text-decoration dominant-baseline alignment-baseline
   baseline-shift writing-mode textLength lengthAdjust startOffset method spacing pathLength
   in in2 result mode type values operator k1 k2 k3 k4 stdDeviation edgeMode radius baseFrequency
   numOctaves seed stitchTiles tableValues slope intercept amplitude exponent`.split(/\s+/)
)
