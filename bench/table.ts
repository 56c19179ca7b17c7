/** One line of the report. Browser, disk and loopback differ from machine to machine: `peer` is measured beside `ours`. */
export interface Row {
  what: string
  ours: number
  /** The same work by the barest thing that could do it, measured in the same run. */
  peer?: number
  /** `/s`, `ms`, `MB`, `kB` or `s`. */
  unit: string
  aim?: Aim
  note?: string
}

/** `ratio` with `peer`: at least so many times the peer, or at most so many with `ratioAtMost`. */
export interface Aim {
  ratio?: number
  ratioAtMost?: number
  atLeast?: number
  atMost?: number
}

export interface Options {
  /** How often ours and the peer take turns; the medians are reported. */
  runs: number
  /** Less of everything, to see whether it works. */
  quick: boolean
  /** Tells what is being done. */
  say(text: string): void
  /** Aborted by Ctrl-C: whoever started something stops it. */
  signal: AbortSignal
}

export function median(values: number[]): number {
  return quantile(values, 0.5)
}

/** The smallest value that at least this share of all values does not exceed; the mean of two for a half. */
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

/** Whether every part of the aim is met; `undefined` where there is none. */
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

/** The report: a table, then the notes of its rows. */
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
        // words to the left, figures to the right
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

/** Three digits that count: `12,300 /s`, `1.27 ms`. */
function figure(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '?'
  const text = value.toLocaleString('en', { maximumSignificantDigits: 3 })
  return unit.startsWith('/') ? `${text}${unit}` : `${text} ${unit}`
}
