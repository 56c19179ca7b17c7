import { LRUCache } from 'lru-cache'
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { Theme } from '../../../contract/domains.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { drawingCost, type SvgElement } from './svg-drawing-cost.ts'
import {
  parseDeclarations,
  parseStyleSheet,
  requireDrawable,
  type StyleRule,
  writeDeclarations,
  writeStyleSheet
} from './svg-styles.ts'
import { drawingAttributes, fragment, isHarmless, RefusedPart } from './svg-values.ts'

const maxBytes = 64 * 1024
const maxElements = 2000
const maxDepth = 64
const maxSelectors = 500
const maxOctaves = 10

/**
 * Throws `svg_refused`, naming the part, for a picture that is too large, not well-formed, not
 * allowed or long to draw. Leaves out what design tools write beside the drawing, but never a
 * forbidden part.
 */
export function canonicalizeSvg(text: string, field: 'logo' | 'logo_dark' | 'favicon'): string {
  const refuse = ({ what, rule }: RefusedPart) =>
    new AppError('svg_refused', `The ${field} holds ${what}`, {
      fields: { [field]: { rule, limit: what, detail: `an SVG without ${what}` } }
    })
  try {
    requireSize(text)
    // the parser would join half of a surrogate pair with the next character and so read a
    // different file
    if (!text.isWellFormed()) throw new RefusedPart('XML')
    const written = write(text)
    requireSize(written)
    return written
  } catch (cause) {
    if (!(cause instanceof RefusedPart)) throw cause
    throw refuse(cause)
  }
}

function requireSize(text: string): void {
  if (Buffer.byteLength(text) > maxBytes) throw new RefusedPart('> 64 KB')
}

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

/**
 * A picture that was stored before a rule forbade it is an empty text: no page draws it, so that
 * those who can replace it still can.
 */
export function parseStoredTheme(stored: unknown): Theme {
  const theme = Theme.parse(stored)
  const { logo, logo_dark, favicon } = theme
  return {
    ...theme,
    logo: shownPicture(logo),
    ...(logo_dark !== undefined && { logo_dark: shownPicture(logo_dark) }),
    favicon: shownPicture(favicon)
  }
}

// whether pictures are allowed, because checking them takes longer
const checked = new LRUCache<string, boolean>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (_isAllowed, picture) => picture.length
})

function shownPicture(picture: string): string {
  if (picture === '') return ''
  let isAllowed = checked.get(picture)
  if (isAllowed === undefined) {
    isAllowed = isAllowedPicture(picture)
    checked.set(picture, isAllowed)
  }
  return isAllowed ? picture : ''
}

function isAllowedPicture(picture: string): boolean {
  try {
    canonicalizeSvg(picture, 'logo')
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

const svgNamespace = 'http://www.w3.org/2000/svg'
const xlinkNamespace = 'http://www.w3.org/1999/xlink'
// their elements mean something to a browser
const drawnNamespaces = new Set([
  svgNamespace,
  'http://www.w3.org/1999/xhtml',
  'http://www.w3.org/1998/Math/MathML'
])

function write(text: string): string {
  const parser = new SaxesParser({ xmlns: true, position: false })
  let written = ''
  let open = false
  let depth = 0
  let elements = 0
  let selectors = 0
  let css = ''
  let root: SvgElement | undefined
  let parent: SvgElement | undefined
  const rules: StyleRule[] = []
  // the depth of the element that is left out with its content, and of <style>
  let leftOutDepth: number | undefined
  let styleDepth: number | undefined

  const close = () => {
    if (open) written += '>'
    open = false
  }
  parser.on('error', () => {
    throw new RefusedPart('XML')
  })
  parser.on('xmldecl', ({ encoding, version }) => {
    // the text is decoded already; a name that no browser knows would be a file of another kind
    if (version !== '1.0' || !isEncoding(encoding ?? 'UTF-8')) throw new RefusedPart('<?xml?>')
  })
  parser.on('doctype', content => {
    if (content.includes('[')) throw new RefusedPart('<!ENTITY>', 'svg_entities')
  })
  parser.on('processinginstruction', ({ target }) => {
    if (leftOutDepth === undefined) throw new RefusedPart(`<?${target}?>`)
  })
  parser.on('cdata', content => {
    if (styleDepth !== undefined) css += content
    else if (leftOutDepth === undefined) throw new RefusedPart('<![CDATA[')
  })
  parser.on('opentag', tag => {
    depth++
    elements++
    if (depth > maxDepth) throw new RefusedPart(`> ${maxDepth} levels`)
    if (elements > maxElements) throw new RefusedPart(`> ${maxElements} elements`)
    if (styleDepth !== undefined) throw new RefusedPart(`<${tag.name}> in <style>`)
    if (leftOutDepth === undefined && isLeftOut(tag, depth)) leftOutDepth = depth
    // what is left out is checked all the same: it must not hide a script
    if (depth === 1 || (drawnNamespaces.has(tag.uri) && !isMetadata(tag))) refuseElement(tag, depth)
    if (leftOutDepth !== undefined) return
    if (tag.local === 'style') {
      requirePlainStyle(tag)
      styleDepth = depth
      return
    }
    const attributes = attributesOf(tag)
    const style = parseDeclarations(attributes.get('style') ?? '', `style in <${tag.name}>`)
    attributes.delete('style')
    const element: SvgElement = {
      ...{ name: tag.local, attributes, style, parent },
      children: [],
      textLength: 0
    }
    parent?.children.push(element)
    root ??= element
    parent = element
    close()
    written += `<${tag.local}${depth === 1 ? ` xmlns="${svgNamespace}"` : ''}`
    if (style.length > 0) attributes.set('style', writeDeclarations(style))
    for (const [name, value] of attributes) written += ` ${name}="${escapeAttribute(value)}"`
    attributes.delete('style')
    open = true
  })
  parser.on('closetag', tag => {
    depth--
    if (styleDepth !== undefined) {
      const parsed = parseStyleSheet(css)
      for (const rule of parsed) selectors += rule.selectors.length
      if (selectors > maxSelectors) throw new RefusedPart(`> ${maxSelectors} selectors in <style>`)
      rules.push(...parsed)
      if (parsed.length > 0) {
        close()
        written += `<style>${escapeXml(writeStyleSheet(parsed))}</style>`
      }
      css = ''
      styleDepth = undefined
    } else if (leftOutDepth === undefined) {
      written += open ? '/>' : `</${tag.local}>`
      open = false
      parent = parent?.parent
    } else if (depth < leftOutDepth) leftOutDepth = undefined
  })
  parser.on('text', content => {
    if (styleDepth !== undefined) css += content
    else if (parent && leftOutDepth === undefined && content.trim() !== '') {
      close()
      written += escapeXml(content)
      parent.textLength += content.length
    }
  })
  // saxes skips comments, so the result contains none
  parser.write(text).close()
  if (!root) throw new RefusedPart('XML')
  if (drawingCost(root, rules) === undefined) throw new RefusedPart('…', 'svg_cost')
  return written
}

function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== ''
  } catch {
    return false
  }
}

// design tools write such elements for themselves
function isLeftOut(tag: SaxesTagNS, depth: number): boolean {
  return depth > 1 && (!drawnNamespaces.has(tag.uri) || isMetadata(tag))
}

function isMetadata({ uri, local }: SaxesTagNS): boolean {
  return uri === svgNamespace && local === 'metadata'
}

function refuseElement(tag: SaxesTagNS, depth: number): void {
  const isKnown = tag.uri === svgNamespace && allowedElements.has(tag.local)
  if (!isKnown || (depth === 1) !== (tag.local === 'svg')) throw new RefusedPart(`<${tag.name}>`)
}

function requirePlainStyle({ attributes }: SaxesTagNS): void {
  const { type = 'text/css', media = 'all' } = Object.fromEntries(
    Object.values(attributes).map(({ name, value }) => [name, value.trim().toLowerCase()])
  )
  if (type !== 'text/css' && type !== '') throw new RefusedPart('type in <style>')
  if (media !== 'all' && media !== 'screen' && media !== '')
    throw new RefusedPart('media in <style>')
}

function attributesOf(tag: SaxesTagNS): Map<string, string> {
  const kept = new Map<string, string>()
  for (const { name, local, prefix, uri, value } of Object.values(tag.attributes)) {
    const shown = `${name} in <${tag.name}>`
    if (local === 'href' && (prefix === '' || uri === xlinkNamespace)) {
      // `href` and `xlink:href` are both written as `href`, and an element must not have the same
      // attribute twice
      if (kept.has('href') || !referring.has(tag.local) || !fragment.test(value)) {
        throw new RefusedPart(shown)
      }
      kept.set('href', value)
    } else if (prefix !== '') {
      if (name === 'xml:base' || drawnNamespaces.has(uri)) throw new RefusedPart(shown)
    } else if (allowedAttributes.has(name)) {
      if (name !== 'style') {
        if (!isHarmless(value)) throw new RefusedPart(shown)
        requireDrawable(name, value.trim(), shown)
        if (name === 'numOctaves' && !(Number(value) <= maxOctaves)) throw new RefusedPart(shown)
      }
      kept.set(name, value)
    } else if (!isInert(name)) throw new RefusedPart(shown)
  }
  return kept
}

function isInert(name: string): boolean {
  return name === 'xmlns' || /^data-[\w.-]*$/.test(name) || inertAttributes.has(name)
}

function escapeAttribute(value: string): string {
  return escapeXml(value)
    .replaceAll('"', '&quot;')
    .replace(/[\t\n]/g, numbered)
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/\r/g, numbered)
}

// `'\n'` → `'&#10;'`
function numbered(char: string): string {
  return `&#${char.codePointAt(0)};`
}

// on purpose no scripts, links, foreign content, animations or raster images
const allowedElements = new Set(
  `svg g defs style symbol use title desc path rect circle ellipse line polyline polygon text tspan textPath
   linearGradient radialGradient stop clipPath mask pattern marker filter feBlend feColorMatrix
   feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
   feGaussianBlur feMerge feMergeNode feMorphology feOffset feTurbulence`.split(/\s+/)
)

const referring = new Set(['use', 'textPath', 'linearGradient', 'radialGradient', 'pattern'])

const allowedAttributes = new Set([
  ...drawingAttributes,
  ...`id class style viewBox x1 y1 x2 y2 fx fy fr points dx dy rotate
   version preserveAspectRatio role aria-label aria-hidden aria-labelledby focusable lang
   clipPathUnits maskUnits maskContentUnits filterUnits
   gradientUnits gradientTransform spreadMethod offset
   patternUnits patternContentUnits patternTransform
   markerUnits markerWidth markerHeight orient refX refY
   textLength lengthAdjust startOffset method spacing pathLength
   in in2 result mode type values operator k1 k2 k3 k4 stdDeviation edgeMode radius baseFrequency
   numOctaves seed stitchTiles tableValues slope intercept amplitude exponent`.split(/\s+/)
])

// these change nothing in an image
const inertAttributes = new Set(
  `aria-describedby aria-roledescription baseProfile color-profile color-rendering contentScriptType
   contentStyleType cursor enable-background externalResourcesRequired fill-color
   font-variant-ligatures font-feature-settings glyph-orientation-horizontal
   glyph-orientation-vertical kerning line-height nodetypes p-id pointer-events requiredFeatures
   shape-padding solid-color solid-opacity t tabindex text-align text-indent text-overflow
   text-transform title white-space zoomAndPan`.split(/\s+/)
)
