import fc from 'fast-check'
import { svg } from './pictures.ts'

const kinds = [
  'use',
  'symbol',
  'pattern',
  'mask',
  'clipPath',
  'marker',
  'filter',
  'gradient'
] as const
type Kind = (typeof kinds)[number]

const copies = [1, 2, 3, 5, 9, 20, 60, 200, 900]
const shapes = [
  '<rect width="200" height="40"/>',
  '<circle cx="20" cy="20" r="20" opacity=".5"/>',
  '<path d="M0 0L200 40 0 40 200 0 100 40Z" stroke="red"/>',
  '<path d="M0 0C200 0 0 40 200 40" fill="none" stroke="red" stroke-dasharray=".1 .1"/>',
  '<text y="20">Acme</text>'
]

interface Level {
  kind: Kind
  count: number
  shape: string
  size: number
  isInherited: boolean
}

const level: fc.Arbitrary<Level> = fc.record({
  kind: fc.constantFrom(...kinds),
  count: fc.constantFrom(...copies),
  shape: fc.constantFrom(...shapes),
  size: fc.constantFrom(0.01, 1, 4, 40, 1000, 100_000),
  isInherited: fc.boolean()
})

/** Returns drawings whose references are nested in many ways, the same ones in each run. */
export function nestedPictures(count: number): string[] {
  const levels = fc.array(level, { minLength: 1, maxLength: 5 })
  return fc.sample(levels.map(drawingOf), { seed: 18, numRuns: count })
}

/** Each level consists of copies that refer to the level after it. */
function drawingOf(levels: Level[]): string {
  const written = levels.map((each, index) => {
    const inside = copiesOf(each, `l${index + 1}`, levels[index + 1])
    return index === 0 ? inside : definitionOf(each, `l${index}`, inside)
  })
  return svg(written.join(''), 'viewBox="0 0 200 40"')
}

function copiesOf(
  { count, shape, isInherited }: Level,
  id: string,
  next: Level | undefined
): string {
  if (!next) return shape.repeat(Math.min(count, 60))
  if (next.kind === 'use' || next.kind === 'symbol') return `<use href="#${id}"/>`.repeat(count)
  const property = {
    pattern: 'fill',
    gradient: 'stroke',
    marker: 'marker-mid',
    mask: 'mask',
    filter: 'filter',
    clipPath: 'clip-path'
  }[next.kind]
  const refers = `<g ${property}="url(#${id})">`
  return isInherited ? `${refers}${shape.repeat(count)}</g>` : `${refers}${shape}</g>`.repeat(count)
}

function definitionOf({ kind, size }: Level, id: string, inside: string): string {
  switch (kind) {
    case 'use':
      return `<g id="${id}">${inside}</g>`
    case 'pattern':
      return `<pattern id="${id}" width="${size}" height="${size}" patternUnits="userSpaceOnUse">${inside}</pattern>`
    case 'filter':
      return `<filter id="${id}" x="-99" y="-99" width="200" height="200"><feGaussianBlur stdDeviation="${size}"/><feMorphology radius="${size}"/></filter>`
    case 'gradient':
      return `<linearGradient id="${id}"><stop offset="0"/><stop offset="1"/></linearGradient>`
    default:
      return `<${kind} id="${id}">${inside}</${kind}>`
  }
}
