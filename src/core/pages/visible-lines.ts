/** The positions of the lines of a list, for drawing only the lines that are on the screen. */
export interface LinePositions {
  /** Number of lines of the list. */
  length: number
  /**
   * Returns the distance in pixels from the top of the list to the top of the line with this index.
   * `topOf(length)` is the height of the whole list.
   */
  topOf(index: number): number
}

/**
 * Computes the positions of the lines of a list. `heightOf` returns the height of a line in pixels
 * and is called once per line.
 */
export function measureLines(
  lineCount: number,
  heightOf: (index: number) => number
): LinePositions {
  const tops = new Float64Array(lineCount + 1)
  for (let index = 0; index < lineCount; index++) {
    tops[index + 1] = (tops[index] ?? 0) + heightOf(index)
  }
  return { length: lineCount, topOf: index => tops[Math.max(0, Math.min(lineCount, index))] ?? 0 }
}

/**
 * Returns the lines to draw between the positions `from` and `to`, in pixels from the top of the
 * list. `start` is the index of the first line, and `end` the index after the last line. Both are
 * rounded outwards to multiples of eight, so that scrolling seldom redraws.
 */
export function visibleLineRange(
  lines: LinePositions,
  from: number,
  to: number
): { start: number; end: number } {
  const step = 8
  const start = Math.floor(lineAt(lines, from) / step) * step
  const end = Math.ceil((lineAt(lines, to) + 1) / step) * step
  return { start: Math.min(start, lines.length), end: Math.min(end, lines.length) }
}

/** Returns the index of the line at `height` pixels from the top of the list, by binary search. */
function lineAt(lines: LinePositions, height: number): number {
  let [low, high] = [0, lines.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (lines.topOf(middle + 1) <= height) low = middle + 1
    else high = middle
  }
  return low
}
