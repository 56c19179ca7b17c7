import { drawingAttributes, isHarmless, RefusedPart, reference } from './svg-values.ts'

/** One declaration of CSS, such as `fill: red`. */
export interface Declaration {
  name: string
  value: string
}

/** A rule of a style sheet, such as `.a, .b { fill: red }`. */
export interface StyleRule {
  selectors: string[]
  declarations: Declaration[]
}

/**
 * Parses the declarations of a style attribute or rule. Leaves out what browsers do not draw in an
 * SVG image, such as `-inkscape-stroke`. `where` names the place in the error. Throws `RefusedPart`
 * for a declaration that could load something, or that changes a drawing in ways that are not
 * allowed.
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

/**
 * Parses a style sheet of rules with simple selectors, such as the design tools write. Throws
 * `RefusedPart` for everything else, such as `@import`.
 */
export function parseStyleSheet(css: string): StyleRule[] {
  const text = css.replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, ' ')
  const rules: StyleRule[] = []
  let end = 0
  for (const match of text.matchAll(/([^{}]*)\{([^{}]*)\}/gy)) {
    const [whole, heads = '', body = ''] = match
    const selectors = heads.split(',').map(each => each.trim().replace(/\s+/g, ' '))
    const odd = selectors.find(each => !selector.test(each))
    if (odd !== undefined) throw new RefusedPart(`${odd} in <style>`)
    const declarations = parseDeclarations(body, '<style>')
    if (declarations.length > 0) rules.push({ selectors, declarations })
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

/**
 * Returns whether a rule could apply to an element. Looks only at the last part of each selector, so
 * it is true for some rules that do not apply.
 */
export function mayApply(
  { selectors }: StyleRule,
  element: { name: string; id: string | undefined; classes: readonly string[] }
): boolean {
  return selectors.some(each => {
    const last = each.split(/[ >]+/).at(-1) ?? ''
    const [type = ''] = /^[^.#]*/.exec(last) ?? []
    const parts = last.match(/[.#][^.#]+/g) ?? []
    return (
      (type === '' || type === '*' || type === element.name) &&
      parts.every(part => {
        const name = part.slice(1)
        return part.startsWith('#') ? name === element.id : element.classes.includes(name)
      })
    )
  })
}

/** Throws `RefusedPart` for a value whose drawing could be neither allowed nor counted. */
export function requireDrawable(name: string, value: string, where: string): void {
  // functions, such as blur(), and lists of several references
  if (referringProperties.has(name) && !simpleReference.test(value)) throw new RefusedPart(where)
}

const compound = String.raw`(?:\*|[\p{L}_][\p{L}\p{N}_-]*)?(?:[.#][\p{L}\p{M}\p{N}_-]+)*`
const selector = new RegExp(`^(?! )(?:${compound}(?: ?> ?| |$))+(?<! )$`, 'u')

const referringProperties = new Set(
  'filter clip-path mask marker marker-start marker-mid marker-end'.split(' ')
)
const simpleReference = new RegExp(
  `^(?:none|inherit|initial|unset|${reference.source})(?: ?!important)?$`,
  'iu'
)

/** A style may have everything that is a presentation attribute, and these. */
const drawingProperties = new Set([
  ...[...drawingAttributes].filter(name => !name.startsWith('transform')),
  'background-color',
  'marker',
  'white-space'
])

/** Other properties with which CSS changes what an SVG image shows. */
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
