export interface LinePositions {
  length: number
  // pixels; `topOf(length)` is the height of the whole list
  topOf(index: number): number
}

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

/** Rounded outwards to multiples of eight, so that scrolling seldom redraws. */
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

function lineAt(lines: LinePositions, height: number): number {
  let [low, high] = [0, lines.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (lines.topOf(middle + 1) <= height) low = middle + 1
    else high = middle
  }
  return low
}
