/**
 * One row of the report. Machines differ, so the product (`ours`) and the minimal program (`peer`)
 * are measured in the same run.
 */
export interface Row {
  what: string
  ours: number
  /** The figure of a minimal program that does the same work. */
  peer?: number
  /** The unit of the figures: `/s`, `ms`, `MB`, `kB` or `s`. */
  unit: string
  aim?: Aim
  note?: string
}

/**
 * The target of a row. `ratio`: at least this many times the peer's figure. `ratioAtMost`: at most
 * this many times. `atMost`: at most this figure.
 */
export interface Aim {
  ratio?: number
  ratioAtMost?: number
  atLeast?: number
  atMost?: number
}

export interface Options {
  /** How often the product and the peer are measured, alternately. The report shows medians. */
  runs: number
  /** Whether to run only a small load that shows whether the benchmark works. */
  quick: boolean
  /** Prints a line about the progress. */
  say(text: string): void
  /** Aborted by Ctrl-C. Every benchmark then stops what it has started. */
  signal: AbortSignal
}

export function median(values: number[]): number {
  return quantile(values, 0.5)
}

/**
 * Returns the quantile of the values at `share` (0 to 1). The median of an even number of values is
 * the mean of the middle two.
 */
export function quantile(values: number[], share: number): number {
  if (values.length === 0) return Number.NaN
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number) =>
    sorted[Math.min(sorted.length - 1, Math.max(0, index))] ?? Number.NaN
  if (share === 0.5 && sorted.length % 2 === 0) {
    return (at(sorted.length / 2 - 1) + at(sorted.length / 2)) / 2
  }
  return at(Math.ceil(sorted.length * share) - 1)
}

/** Returns whether a row meets its target, or undefined if it has no target. */
export function isMet({ ours, peer, aim }: Row): boolean | undefined {
  if (!aim) return undefined
  const ratio = peer === undefined ? Number.NaN : ours / peer
  const parts = [
    aim.ratio === undefined || ratio >= aim.ratio,
    aim.ratioAtMost === undefined || ratio <= aim.ratioAtMost,
    aim.atLeast === undefined || ours >= aim.atLeast,
    aim.atMost === undefined || ours <= aim.atMost
  ]
  return parts.every(Boolean)
}

/** Returns the report: a table, then the notes of its rows. */
export function render(rows: Row[]): string {
  const head = ['what', 'ours', 'peer', 'ratio', 'aim', 'verdict']
  const lines = rows.map(row => [
    row.what,
    figure(row.ours, row.unit),
    row.peer === undefined ? '' : figure(row.peer, row.unit),
    row.peer === undefined ? '' : (row.ours / row.peer).toFixed(2),
    aimOf(row),
    verdictOf(row)
  ])
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map(line => line[column]?.length ?? 0))
  )
  const draw = (line: string[]) =>
    line
      .map((cell, column) =>
        // text is left-aligned, figures are right-aligned
        column === 0 || column === 5
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0)
      )
      .join('  ')
      .trimEnd()
  const notes = rows.flatMap(({ what, note }) => (note ? [`${what}: ${note}`] : []))
  return [
    draw(head),
    draw(widths.map(width => '-'.repeat(width))),
    ...lines.map(draw),
    ...(notes.length > 0 ? ['', ...notes] : [])
  ].join('\n')
}

function aimOf({ unit, aim = {} }: Row): string {
  const parts: string[] = []
  if (aim.ratio !== undefined) parts.push(`≥ ${aim.ratio} ×`)
  if (aim.ratioAtMost !== undefined) parts.push(`≤ ${aim.ratioAtMost} ×`)
  if (aim.atLeast !== undefined) parts.push(`≥ ${figure(aim.atLeast, unit)}`)
  if (aim.atMost !== undefined) parts.push(`≤ ${figure(aim.atMost, unit)}`)
  return parts.join(', ')
}

function verdictOf(row: Row): string {
  const met = isMet(row)
  if (met === undefined) return ''
  return met ? 'met' : 'MISSED'
}

/** Formats a value with three significant digits: `12,300 /s`, `1.27 ms`. */
function figure(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '?'
  const text = value.toLocaleString('en', { maximumSignificantDigits: 3 })
  return unit.startsWith('/') ? `${text}${unit}` : `${text} ${unit}`
}
