import { pathLengthAtMost } from './svg-path-length.ts'
import { type Declaration, mayApply, type StyleRule } from './svg-styles.ts'
import { referencesIn } from './svg-values.ts'

export interface SvgElement {
  name: string
  attributes: ReadonlyMap<string, string>
  style: readonly Declaration[]
  children: SvgElement[]
  parent: SvgElement | undefined
  textLength: number
}

// A unit is about as much work as one plain shape. `bench/pictures.ts` measures how long browsers
// draw pictures of this cost.
export const maxDrawingCost = 3000

/**
 * Counts as a browser draws: every reference draws the referenced content again. Undefined above
 * `maxDrawingCost`, also for an element that refers to itself.
 */
export function drawingCost(root: SvgElement, rules: readonly StyleRule[]): number | undefined {
  const drawing = new Drawing(root, rules)
  try {
    drawing.draw(root, {
      scale: scaleOfPicture(root),
      whole: Math.max(...sidesOfPicture(root)),
      layers: 0,
      inherited: noPaint
    })
    return drawing.cost
  } catch (cause) {
    if (cause instanceof TooCostly) return undefined
    throw cause
  }
}

// in device pixels: the logo on a screen of two per pixel
const shown = { w: 400, h: 80 }

class TooCostly extends Error {}

// what shapes get from the elements around them
type Inherited = Readonly<Record<(typeof inheritedNames)[number], ReadonlySet<string>>>
const inheritedNames = [
  'fill',
  'stroke',
  'marker',
  'marker-start',
  'marker-mid',
  'marker-end',
  'stroke-dasharray'
] as const
// as: Object.fromEntries loses the names
const noPaint = Object.fromEntries(
  inheritedNames.map(name => [name, new Set()])
) as unknown as Inherited

interface Context {
  // device pixels for one unit; Infinity if it is not known
  scale: number
  // of which percentages are taken, at most; Infinity if it is not known
  whole: number
  layers: number
  inherited: Inherited
}

const shapes = new Set(
  'path rect circle ellipse line polyline polygon text tspan textPath'.split(' ')
)
const groups = new Set(['svg', 'g', 'use', ...shapes])

class Drawing {
  cost = 0
  #depth = 0
  readonly #rules: readonly StyleRule[]
  readonly #byId = new Map<string, SvgElement>()
  readonly #values = new Map<SvgElement, Map<string, Set<string>>>()

  constructor(root: SvgElement, rules: readonly StyleRule[]) {
    this.#rules = rules.map(rule => ({
      ...rule,
      declarations: rule.declarations.filter(({ name }) => counted.has(name))
    }))
    const index = (element: SvgElement) => {
      const id = element.attributes.get('id')
      if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, element)
      for (const child of element.children) index(child)
    }
    index(root)
  }

  draw(element: SvgElement, context: Context): void {
    // the content of other elements, such as <defs>, is drawn only where it is referred to
    this.#spend(1)
    if (!groups.has(element.name)) return
    // before the stack of this process is full
    if (++this.#depth > maxDrawingDepth) throw new TooCostly()
    const here = this.#enter(element, context)
    if (shapes.has(element.name)) this.#paint(element, here)
    if (element.name === 'use') this.#drawReferenced(this.#hrefOf(element), here)
    else for (const child of element.children) this.draw(child, here)
    this.#depth--
  }

  #enter(element: SvgElement, context: Context): Context {
    const own = (name: string) => this.#own(element, name)
    this.#read(element)
    const scale = context.scale * scaleOf(element.attributes.get('transform') ?? '')
    const clips = own('clip-path').flatMap(referencesIn)
    const masks = own('mask').flatMap(referencesIn)
    const filters = own('filter').flatMap(referencesIn)
    const isLayer =
      masks.length + filters.length > 0 ||
      own('opacity').some(value => value.trim() !== '1') ||
      own('mix-blend-mode').length + own('isolation').length > 0
    const layers = context.layers + (isLayer ? 1 : 0)
    if (isLayer) this.#spend(layerCost * layers)
    const inherited = this.#inherit(element, context.inherited)
    const here = { scale, whole: context.whole, layers, inherited }
    for (const id of clips) {
      this.#spend(clipCost)
      this.#drawContent(id, here)
    }
    for (const id of masks) {
      this.#spend(maskCost)
      this.#drawContent(id, here)
    }
    for (const id of filters) this.#applyFilter(id, scale)
    return here
  }

  #paint(element: SvgElement, context: Context): void {
    const outlined = [...outlines].flatMap(name => this.#own(element, name))
    const outline = outlined.join(' ')
    this.#spend((outline.length + element.textLength) / bytesPerUnit)
    if (element.textLength > 0) this.#spend(textCost)
    const corners = cornersOf(element, outline)
    // the lines of one outline cross each other
    this.#spend((corners / cornersCrossed) ** 2)
    if ([...context.inherited.stroke].some(isPaint)) this.#spend(corners * strokeCost)
    const { inherited } = context
    const lengths = sides.flatMap(name => this.#own(element, name))
    let known: number | undefined
    const extent = () =>
      (known ??= extentOf(element, { sides: lengths, outlined, whole: context.whole }))
    for (const id of [...inherited.fill, ...inherited.stroke].flatMap(referencesIn)) {
      this.#applyPaint(id, context, extent)
    }
    // dashes may have their length on the screen
    const isScaling = this.#own(element, 'vector-effect').every(value => value.trim() === 'none')
    for (const dashes of inherited['stroke-dasharray']) {
      if (!/\d/.test(dashes)) continue
      const length = 8 * extent() * (isScaling ? 1 : Math.max(1, context.scale))
      this.#spend(dashCount(dashes, length, element) * dashCost)
    }
    const { marker } = inherited
    const ends = [...inherited['marker-start'], ...inherited['marker-end']].flatMap(referencesIn)
    const all = [...inherited['marker-mid'], ...marker].flatMap(referencesIn)
    for (const id of ends) this.#drawContent(id, context)
    for (const id of all) {
      if (!this.#byId.has(id)) continue
      for (let at = 0; at < 2 * corners; at++) this.#drawContent(id, context)
    }
  }

  #applyPaint(id: string, context: Context, extent: () => number): void {
    const paint = this.#byId.get(id)
    if (!paint) return
    this.#spend(paintCost + paint.children.length)
    this.#read(paint)
    const parent = this.#hrefOf(paint)
    if (parent !== undefined) this.#applyPaint(parent, context, extent)
    if (paint.name !== 'pattern') return
    const scale = context.scale * scaleOf(paint.attributes.get('patternTransform') ?? '')
    const isInUnits = paint.attributes.get('patternUnits') === 'userSpaceOnUse'
    const sideOf = (name: 'width' | 'height') => {
      const side = lengthOf(paint.attributes.get(name) ?? '0', isInUnits ? context.whole : 1)
      if (side === 0) return 0 // nothing is drawn
      return (isInUnits ? side : side * extent()) * scale
    }
    this.#spend((tileCost * sideOf('width') * sideOf('height')) / (shown.w * shown.h))
    this.#drawContent(id, context)
  }

  // what it blurs or thickens has to be drawn that far beyond the picture
  #applyFilter(id: string, scale: number): void {
    const filter = this.#byId.get(id)
    if (filter?.name !== 'filter') return
    for (const effect of filter.children) {
      const { name, attributes } = effect
      this.#read(effect)
      const reach = (text: string | undefined) => {
        const numbers = numbersIn(text ?? '0').map(Math.abs)
        const reached = Math.max(0, ...numbers)
        return reached === 0 ? 0 : reached * scale
      }
      const far = 3 * reach(attributes.get('stdDeviation'))
      const radius = reach(attributes.get('radius'))
      const area = (1 + (2 * far) / shown.w) * (1 + (2 * far) / shown.h)
      const isBlur = name === 'feGaussianBlur' || name === 'feDropShadow'
      if (isBlur) this.#spend(blurCost * area)
      else if (name === 'feMorphology') this.#spend(blurCost * (1 + radius / 4))
      else if (name === 'feTurbulence') {
        const octaves = Number(attributes.get('numOctaves') ?? 1)
        this.#spend(turbulenceCost * Math.max(1, octaves))
      } else this.#spend(filterCost)
    }
  }

  #drawContent(id: string, context: Context): void {
    const target = this.#byId.get(id)
    if (!target) return
    this.#spend(1)
    const isUnknown = hasOwnUnits(target)
    const inside = {
      scale: isUnknown ? Number.POSITIVE_INFINITY : context.scale,
      whole: isUnknown ? Number.POSITIVE_INFINITY : context.whole,
      layers: context.layers + 1,
      inherited: this.#inheritedIn(target)
    }
    const here = this.#enter(target, inside)
    for (const child of target.children) this.draw(child, here)
  }

  #drawReferenced(id: string | undefined, context: Context): void {
    const target = id === undefined ? undefined : this.#byId.get(id)
    if (!target) return
    if (target.name !== 'symbol') {
      this.draw(target, context)
      return
    }
    this.#spend(1)
    const scale = target.attributes.has('viewBox') ? Number.POSITIVE_INFINITY : context.scale
    // a symbol is as large as each <use> says
    const here = this.#enter(target, { ...context, scale, whole: Number.POSITIVE_INFINITY })
    for (const child of target.children) this.draw(child, here)
  }

  #hrefOf(element: SvgElement): string | undefined {
    return element.attributes.get('href')?.slice(1)
  }

  // from the elements that contain it in the file
  #inheritedIn({ parent }: SvgElement): Inherited {
    return parent ? this.#inherit(parent, this.#inheritedIn(parent)) : noPaint
  }

  #inherit(element: SvgElement, around: Inherited): Inherited {
    this.#spendText(Object.values(around))
    const read = [...this.#valuesOf(element)].filter(([name]) => !outlines.has(name))
    this.#spendText(read.map(([, values]) => values))
    let inherited: Record<string, ReadonlySet<string>> | undefined
    for (const name of inheritedNames) {
      // whether a rule of a style sheet applies is not known for certain, so both count
      const own = this.#own(element, name).filter(value => !around[name].has(value))
      if (own.length > 0)
        inherited = { ...(inherited ?? around), [name]: new Set([...around[name], ...own]) }
    }
    // as: every name is one of the above
    return (inherited as Inherited | undefined) ?? around
  }

  #own(element: SvgElement, name: string): string[] {
    return [...(this.#valuesOf(element).get(name) ?? [])]
  }

  #valuesOf(element: SvgElement): Map<string, Set<string>> {
    const known = this.#values.get(element)
    if (known) return known
    const values = new Map<string, Set<string>>()
    const add = (name: string, value: string) => {
      if (!counted.has(name)) return
      const known = values.get(name)
      if (known) known.add(value)
      else values.set(name, new Set([value]))
    }
    const { name, attributes, style } = element
    for (const [attribute, value] of attributes) add(attribute, value)
    const classes = attributes.get('class')?.split(/\s+/) ?? []
    const names = new Set([`#${attributes.get('id') ?? ''}`, ...classes.map(each => `.${each}`)])
    for (const rule of this.#rules) {
      if (!mayApply(rule, { type: name, names })) continue
      for (const declaration of rule.declarations) add(declaration.name, declaration.value)
    }
    for (const declaration of style) add(declaration.name, declaration.value)
    this.#values.set(element, values)
    return values
  }

  // attributes are read each time that the element is drawn
  #read({ attributes }: SvgElement): void {
    let length = 0
    for (const [name, value] of attributes) if (!outlines.has(name)) length += value.length
    this.#spend(Math.max(0, length - freeLength) / lengthPerUnit)
  }

  #spendText(texts: Iterable<ReadonlySet<string>>): void {
    let length = 0
    for (const each of texts) for (const text of each) length += text.length + lengthOfValue
    this.#spend(Math.max(0, length - freeLength) / lengthPerUnit)
  }

  #spend(units: number): void {
    this.cost += units
    // also for what is not a number
    if (!(this.cost <= maxDrawingCost)) throw new TooCostly()
  }
}

// measured with 400 × 80 pixels in Chromium and Firefox: how many plain shapes take as long
const layerCost = 5
const clipCost = 30
const maskCost = 40
const paintCost = 8
const textCost = 10
const tileCost = 10
const blurCost = 100
const filterCost = 15
const turbulenceCost = 800
const dashCost = 0.1
const strokeCost = 3
// corners whose lines, crossing each other, cost one unit
const cornersCrossed = 160
const bytesPerUnit = 40
const maxDrawingDepth = 400
const cornersOfLetter = 10
// what reading long texts takes here, not in a browser; no drawing needs as much for one element
const freeLength = 500
const lengthPerUnit = 100
const lengthOfValue = 20

const outlines = new Set(['d', 'points'])
const sides = 'x y x1 y1 x2 y2 cx cy r rx ry width height'.split(' ')

const counted = new Set<string>([
  ...inheritedNames,
  ...outlines,
  ...sides,
  ...['clip-path', 'mask', 'filter', 'opacity', 'mix-blend-mode', 'isolation', 'vector-effect']
])

function hasOwnUnits({ name, attributes }: SvgElement): boolean {
  return (
    name === 'marker' ||
    attributes.has('viewBox') ||
    [...attributes].some(([key, value]) => key.endsWith('Units') && value === 'objectBoundingBox')
  )
}

function numbersIn(text: string): number[] {
  return (text.match(/[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi) ?? []).map(Number)
}

// Infinity for a length whose size is not known, such as one of `em` or `calc()`
function lengthOf(text: string, whole: number): number {
  const [, number = '', unit = ''] =
    /^\s*([^\s,a-z%]+(?:e[+-]?\d+)?)(%|[a-z]*)\s*(?:!important)?$/i.exec(text) ?? []
  const size = Math.abs(Number(number))
  if (size === 0 && number !== '') return 0
  if (number === '') return /\d/.test(text) ? Number.POSITIVE_INFINITY : 0
  if (unit === '%') return (size / 100) * whole
  if (unit === '' || unit.toLowerCase() === 'px') return size
  // an inch is the largest
  return absoluteUnits.has(unit.toLowerCase()) ? size * 96 : Number.POSITIVE_INFINITY
}

const absoluteUnits = new Set(['in', 'cm', 'mm', 'q', 'pt', 'pc'])

function sidesOfPicture({ attributes }: SvgElement): [number, number] {
  const box = numbersIn(attributes.get('viewBox') ?? '').map(Math.abs)
  const sideOf = (name: 'width' | 'height', otherwise: number) => {
    const [number] = numbersIn(attributes.get(name) ?? '')
    return number || otherwise
  }
  // the size of an image that says none
  const [, , w = sideOf('width', 300), h = sideOf('height', 150)] = box
  return [w, h]
}

function scaleOfPicture(root: SvgElement): number {
  const [w, h] = sidesOfPicture(root)
  const isFilled = root.attributes.get('preserveAspectRatio')?.includes('slice')
  return (isFilled ? Math.max : Math.min)(shown.w / w, shown.h / h)
}

// at most
function scaleOf(transform: string): number {
  let scale = 1
  for (const part of transform.toLowerCase().split(')')) {
    const [head = '', list = ''] = part.split('(')
    const name = head.replace(/[\s,]/g, '')
    const numbers = numbersIn(list)
    const [a = 1, b = 0, c = 0, d = 1] = numbers
    if (name === 'scale') scale *= Math.max(...numbers.map(Math.abs), 0)
    else if (name === 'matrix') scale *= Math.hypot(a, b, c, d)
    else if (name === 'skewx' || name === 'skewy')
      scale *= 1 + Math.abs(Math.tan((a * Math.PI) / 180))
  }
  return scale
}

// At most, with the length of its outline. Infinity for text, whose letters have any size.
function extentOf(
  { name, textLength }: SvgElement,
  { sides, outlined, whole }: { sides: string[]; outlined: string[]; whole: number }
): number {
  if (name.startsWith('t') && textLength > 0) return Number.POSITIVE_INFINITY
  const lengths = [
    ...sides.map(side => lengthOf(side, whole)),
    ...outlined.map(outline => pathLengthAtMost(pathDataOf(outline)))
  ]
  return lengths.reduce((sum, length) => sum + length, 0)
}

// `points` are the corners of a polygon, and CSS writes `path()`
function pathDataOf(outline: string): string {
  if (/^[\s,\d+.-]/.test(outline)) return `M${outline}Z`
  return /^\s*path\s*\(.*?(["'])(.*)\1/s.exec(outline)?.[2] ?? outline
}

// at most: a curve counts as one for each of its points
function cornersOf({ textLength }: SvgElement, outline: string): number {
  const parts = outline.match(/\d+|[a-z]/gi)?.length ?? 0
  return Math.max(2, parts / 2) + cornersOfLetter * textLength
}

function isPaint(value: string): boolean {
  return !/^\s*(none|transparent)\s*$/i.test(value)
}

function dashCount(dashes: string, length: number, { attributes }: SvgElement): number {
  // percentages and other units have a size that is not known
  if (!plainDashes.test(dashes)) return Number.POSITIVE_INFINITY
  const period = numbersIn(dashes).reduce((sum, dash) => sum + Math.abs(dash), 0)
  if (period === 0) return 0 // not dashed
  const stated = lengthOf(attributes.get('pathLength') ?? '0', 1)
  return Math.max(stated, length) / period
}

const plainDashes = /^(?:[\s,\d.+-]|\de[+-]?\d|px|mm|cm|in|pt|pc)*(?:!important)?$/i
