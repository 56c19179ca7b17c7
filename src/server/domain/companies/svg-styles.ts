import { drawingAttributes, isHarmless, RefusedPart, reference } from './svg-values.ts'

export interface Declaration {
  name: string
  value: string
}

// between combinators: `rect.a#b`
export interface Compound {
  // `''` or `'*'` for every element
  type: string
  // `'.a'`, `'#b'`
  names: string[]
}

export interface StyleRule {
  selectors: string[]
  // the last part of each selector
  ends: Compound[]
  declarations: Declaration[]
}

/**
 * Leaves out what browsers do not draw in an SVG image. Throws `RefusedPart`, with `where`, for
 * what could load something or change a drawing in ways that are not allowed.
 */
export function parseDeclarations(text: string, where: string): Declaration[] {
  if (!isHarmless(text) || !/^[\p{L}\p{M}\p{N}\s:;#.,%()'"+\-_/!*]*$/u.test(text)) {
    throw new RefusedPart(where)
  }
  return text.split(';').flatMap(part => {
    if (part.trim() === '') return []
    const [, name = '', value = ''] = /^\s*([\w-]+)\s*:\s*(\S.*)$/s.exec(part.trimEnd()) ?? []
    // a semicolon in quotes or parentheses separates nothing
    if (name === '' || !isBalanced(value)) throw new RefusedPart(where)
    const known = name.toLowerCase()
    if (drawingProperties.has(known)) {
      const written = value.replace(/\s+/g, ' ')
      requireDrawable(known, written, where)
      return [{ name: known, value: written }]
    }
    if (changesDrawing.test(known)) throw new RefusedPart(`${known} in ${where}`)
    return []
  })
}

/** Throws `RefusedPart` for everything but rules with simple selectors, such as `@import`. */
export function parseStyleSheet(css: string): StyleRule[] {
  const text = withoutComments(css)
  const rules: StyleRule[] = []
  let end = 0
  for (const match of text.matchAll(/([^{}]*)\{([^{}]*)\}/gy)) {
    const [whole, heads = '', body = ''] = match
    const selectors = heads.split(',').map(each => each.trim().replace(/\s+/g, ' '))
    const ends = selectors.map(lastPartOf)
    const declarations = parseDeclarations(body, '<style>')
    if (declarations.length > 0) rules.push({ selectors, ends, declarations })
    end = match.index + whole.length
  }
  if (text.slice(end).trim() !== '') throw new RefusedPart('<style>')
  return rules
}

export function writeDeclarations(declarations: readonly Declaration[]): string {
  return declarations.map(({ name, value }) => `${name}:${value}`).join(';')
}

export function writeStyleSheet(rules: readonly StyleRule[]): string {
  return rules
    .map(
      ({ selectors, declarations }) => `${selectors.join(',')}{${writeDeclarations(declarations)}}`
    )
    .join('')
}

/** Looks only at the last part of each selector, so it is true for some rules that do not apply. */
export function mayApply(
  { ends }: StyleRule,
  element: { type: string; names: ReadonlySet<string> }
): boolean {
  return ends.some(
    ({ type, names }) =>
      (type === '' || type === '*' || type === element.type) &&
      names.every(name => element.names.has(name))
  )
}

/** Throws `RefusedPart` for a value whose drawing could be neither allowed nor counted. */
export function requireDrawable(name: string, value: string, where: string): void {
  // functions, such as blur(), and lists of several references
  if (referringProperties.has(name) && !simpleReference.test(value)) throw new RefusedPart(where)
  // the value would be that of an element around, of whatever kind
  if (uninherited.has(name) && /^inherit\b/i.test(value)) throw new RefusedPart(where)
}

const compound = /^(?:\*|[\p{L}_][\p{L}\p{N}_-]*)?(?:[.#][\p{L}\p{M}\p{N}_-]+)*$/u
const maxSelectorLength = 200

function lastPartOf(selector: string): Compound {
  const parts = selector.length > maxSelectorLength ? [] : selector.split(/ ?> ?| /)
  const last = parts.at(-1)
  if (last === undefined || parts.some(part => part === '' || !compound.test(part))) {
    throw new RefusedPart(`${selector} in <style>`)
  }
  const [type = ''] = /^[^.#]*/.exec(last) ?? []
  return { type, names: [...new Set(last.match(/[.#][^.#]+/g))] }
}

function withoutComments(css: string): string {
  let text = ''
  let end = 0
  for (;;) {
    const start = css.indexOf('/*', end)
    const close = start < 0 ? -1 : css.indexOf('*/', start + 2)
    if (close < 0) return text + css.slice(end)
    text += `${css.slice(end, start)} `
    end = close + 2
  }
}

// an element has these for itself, and they make its drawing costly
const uninherited = new Set(
  'filter clip-path mask d transform x y cx cy r rx ry width height'.split(' ')
)

const referringProperties = new Set(
  'filter clip-path mask marker marker-start marker-mid marker-end'.split(' ')
)
const simpleReference = new RegExp(
  `^(?:none|inherit|initial|unset|${reference.source})(?: ?!important)?$`,
  'iu'
)

// everything that is a presentation attribute, and these
const drawingProperties = new Set([
  ...[...drawingAttributes].filter(name => !name.startsWith('transform')),
  'background-color',
  'marker',
  'white-space'
])

// other properties that change what an SVG image shows
const changesDrawing =
  /^(?:animation|backdrop|background|border|box|columns?|content|contain|mask-|motion|offset|outline|perspective|position|rotate|scale|shape-outside|transform|transition|translate|will-change|zoom)/

function isBalanced(value: string): boolean {
  const plain = value.replace(/'[^']*'|"[^"]*"/g, '')
  let open = 0
  for (const char of plain) {
    if (char === "'" || char === '"') return false
    if (char === '(') open++
    if (char === ')') open--
    if (open < 0) return false
  }
  return open === 0
}
