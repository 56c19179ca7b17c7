/** The product (`ours`) is measured in the same run as its `peer`, because machines differ. */
export interface ReportRow {
  what: string
  ours: number
  /** In most rows the figure of a minimal program that does the same work. */
  peer?: number
  unit: string
  target?: Target
  note?: string
}

/**
 * `ratio`: at least this many times the peer's figure. `atLeast` and `atMost` are in the unit of
 * the row.
 */
export interface Target {
  ratio?: number
  ratioAtMost?: number
  atLeast?: number
  atMost?: number
}

export interface BenchOptions {
  /**
   * How often the product and the peer are each measured, alternately. The report shows medians.
   */
  runs: number
  /** Whether to run only a small load that shows whether the benchmark works. */
  quick: boolean
  say(text: string): void
  /** Aborted by Ctrl-C. Every benchmark then stops what it has started. */
  signal: AbortSignal
}

export function median(values: number[]): number {
  return quantile(values, 0.5)
}

/** Of an even number of values, the median is the mean of the middle two. */
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

export function meetsTarget({ ours, peer, target }: ReportRow): boolean | undefined {
  if (!target) return undefined
  const ratio = peer === undefined ? Number.NaN : ours / peer
  const parts = [
    target.ratio === undefined || ratio >= target.ratio,
    target.ratioAtMost === undefined || ratio <= target.ratioAtMost,
    target.atLeast === undefined || ours >= target.atLeast,
    target.atMost === undefined || ours <= target.atMost
  ]
  return parts.every(Boolean)
}

export function renderReport(rows: ReportRow[]): string {
  const head = ['what', 'ours', 'peer', 'ratio', 'aim', 'verdict']
  const lines = rows.map(row => [
    row.what,
    figure(row.ours, row.unit),
    row.peer === undefined ? '' : figure(row.peer, row.unit),
    row.peer === undefined ? '' : (row.ours / row.peer).toFixed(2),
    targetOf(row),
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

function targetOf({ unit, target = {} }: ReportRow): string {
  const parts: string[] = []
  if (target.ratio !== undefined) parts.push(`≥ ${target.ratio} ×`)
  if (target.ratioAtMost !== undefined) parts.push(`≤ ${target.ratioAtMost} ×`)
  if (target.atLeast !== undefined) parts.push(`≥ ${figure(target.atLeast, unit)}`)
  if (target.atMost !== undefined) parts.push(`≤ ${figure(target.atMost, unit)}`)
  return parts.join(', ')
}

function verdictOf(row: ReportRow): string {
  const met = meetsTarget(row)
  if (met === undefined) return ''
  return met ? 'met' : 'MISSED'
}

// three significant digits: `12,300 /s`, `1.27 ms`
function figure(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '?'
  const text = value.toLocaleString('en', { maximumSignificantDigits: 3 })
  return unit.startsWith('/') ? `${text}${unit}` : `${text} ${unit}`
}
