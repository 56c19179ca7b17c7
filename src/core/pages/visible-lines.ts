/** The positions of the lines of a list. */
export interface LinePositions {
  /** The number of lines. */
  length: number
  /**
   * Returns the distance from the top of the list to the top of a line. `topOf(length)` is the
   * height of the list.
   */
  topOf(index: number): number
}

/** Measures the lines of a list. Calls `heightOf` once per line. */
export function measureLines(length: number, heightOf: (index: number) => number): LinePositions {
  const tops = new Float64Array(length + 1)
  for (let index = 0; index < length; index++) {
    tops[index + 1] = (tops[index] ?? 0) + heightOf(index)
  }
  return { length, topOf: index => tops[Math.max(0, Math.min(length, index))] ?? 0 }
}

/**
 * Returns the lines between two heights: from `start` up to, but not including, `end`. Rounds to
 * multiples of eight lines, so that scrolling seldom redraws.
 */
export function visibleLines(
  lines: LinePositions,
  from: number,
  to: number
): { start: number; end: number } {
  const step = 8
  const start = Math.floor(lineAt(lines, from) / step) * step
  const end = Math.ceil((lineAt(lines, to) + 1) / step) * step
  return { start: Math.min(start, lines.length), end: Math.min(end, lines.length) }
}

/** Returns the line at a height, by binary search. */
function lineAt(lines: LinePositions, height: number): number {
  let [low, high] = [0, lines.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (lines.topOf(middle + 1) <= height) low = middle + 1
    else high = middle
  }
  return low
}
