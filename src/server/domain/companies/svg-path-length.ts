/**
 * The path is not longer, moves of the pen included. Infinity for an outline that is not plain path
 * data.
 */
export function pathLengthAtMost(d: string): number {
  let length = 0
  let at: Point = [0, 0]
  let start = at
  // the last control point, which a smooth curve mirrors
  let control: Point | undefined
  let before = ''
  const legTo = (point: Point) => {
    length += Math.hypot(point[0] - at[0], point[1] - at[1])
    at = point
  }
  for (const [, letter = '', given = ''] of d.matchAll(/([a-z])([^a-z]*(?:e[+-]?\d[^a-z]*)*)/gi)) {
    const command = letter.toUpperCase()
    const size = argumentCounts.get(command)
    const numbers = readNumbers(given, command)
    if (size === undefined || numbers === undefined) return Number.POSITIVE_INFINITY
    if (command === 'Z') {
      legTo(start)
      before = command
    }
    for (let from = 0; size > 0 && from + size <= numbers.length; from += size) {
      const [x0, y0]: Point = letter === command ? [0, 0] : at
      const next = numbers.slice(from, from + size)
      const pointAt = (index: number): Point => [
        x0 + (next[index] ?? 0),
        y0 + (next[index + 1] ?? 0)
      ]
      const [first = 0] = next
      let end = pointAt(size - 2)
      if (command === 'H') end = [x0 + first, at[1]]
      if (command === 'V') end = [at[0], y0 + first]
      // a curve is not longer than the legs between its points
      if (command === 'A') length += arcLengthAtMost(next, at, end)
      const isMirrored = mirrors.get(command)?.includes(before) ?? false
      const controls: Point[] = mirrors.has(command)
        ? [isMirrored && control ? mirrorOf(control, at) : at]
        : []
      for (let index = 0; 'CSQ'.includes(command) && index < size - 2; index += 2) {
        controls.push(pointAt(index))
      }
      for (const point of controls) legTo(point)
      control = controls.at(-1)
      before = command
      legTo(end)
      if (command === 'M' && from === 0) start = end
    }
  }
  return length
}

type Point = readonly [number, number]

// smooth curves, with the commands whose control point they mirror
const mirrors = new Map([
  ['S', 'CS'],
  ['T', 'QT']
])

function mirrorOf([x, y]: Point, [x0, y0]: Point): Point {
  return [2 * x0 - x, 2 * y0 - y]
}

const argumentCounts = new Map(
  Object.entries({ M: 2, L: 2, H: 1, V: 1, C: 6, S: 4, Q: 4, T: 2, A: 7, Z: 0 })
)

// browsers enlarge an ellipse that is too small to connect the two points
function arcLengthAtMost([rx = 0, ry = 0]: number[], from: Point, to: Point): number {
  const radii = [Math.abs(rx), Math.abs(ry)]
  const small = Math.min(...radii)
  if (small === 0) return 0 // drawn as a line
  const half = Math.hypot(to[0] - from[0], to[1] - from[1]) / 2
  return 2 * Math.PI * Math.max(...radii) * Math.max(1, half / small)
}

function readNumbers(text: string, command: string): number[] | undefined {
  const number = /[\s,]*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)/iy
  // the two flags of an arc may be written without a space: `a1 1 0 015 5`
  const flag = /[\s,]*([01])/y
  const numbers: number[] = []
  for (let end = 0; ; ) {
    const isFlag = command === 'A' && [3, 4].includes(numbers.length % 7)
    const token = isFlag ? flag : number
    token.lastIndex = end
    const found = token.exec(text)
    if (!found) return /[^\s,]/.test(text.slice(end)) ? undefined : numbers
    numbers.push(Number(found[1]))
    end = token.lastIndex
  }
}
