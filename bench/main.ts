import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { measure as batches } from './batches.ts'
import { measure as bounds } from './bounds.ts'
import { canPinToCores, onClientCore } from './cores.ts'
import { measure as desk } from './deposit-page.ts'
import { measure as deposits } from './deposits.ts'
import { measure as edge } from './edge.ts'
import { measure as fairness } from './fairness.ts'
import { measure as firstUse } from './first-use.ts'
import { measure as hashing } from './hashing.ts'
import { measure as imports } from './imports.ts'
import { measure as lists } from './lists.ts'
import { measure as log } from './log.ts'
import { measure as pages } from './pages.ts'
import { measure as pictures } from './pictures.ts'
import { measure as registerLookUps } from './register-look-ups.ts'
import { measure as registers } from './registers.ts'
import { measure as signIn } from './sign-in.ts'
import { measure as start } from './start.ts'
import { measure as streams } from './streams.ts'
import { type BenchOptions, meetsTarget, type ReportRow, renderReport } from './table.ts'
import { measure as verifications } from './verifications.ts'

// `npm run bench -- --only pages --runs 3` repeats one benchmark three times. With `--quick`, the
// loads are small, and the figures mean little. Exits with 1 if a target is missed. Those of `onlyByName`
// take long or need another build, and run only if they are named.
const measures: Record<string, (options: BenchOptions) => Promise<ReportRow[]>> = {
  hashing,
  start: onClientCore(start),
  pages: onClientCore(pages),
  'sign-in': onClientCore(signIn),
  deposits: onClientCore(deposits),
  batches: onClientCore(batches),
  log: onClientCore(log),
  verifications: onClientCore(verifications),
  streams: onClientCore(streams),
  fairness: onClientCore(fairness),
  lists,
  bounds: onClientCore(bounds),
  import: onClientCore(imports),
  'first-use': firstUse,
  desk,
  pictures,
  edge,
  registers: onClientCore(registers),
  'register-look-ups': onClientCore(registerLookUps)
}
const onlyByName = ['edge', 'registers', 'register-look-ups']

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    runs: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false }
  }
})
const names = values.only ?? Object.keys(measures).filter(name => !onlyByName.includes(name))
const unknown = names.find(name => !measures[name])
if (unknown !== undefined) throw new Error(`--only takes ${Object.keys(measures).join(', ')}`)
const runs = Number(values.runs)
if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs takes a number above 0')

// aborted to stop everything that was started
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)))
}

const options: BenchOptions = { runs, quick: values.quick, say, signal: stopping.signal }
say(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}`)
say(
  canPinToCores
    ? 'server and database on core 0, client on core 1'
    : 'nothing is pinned to a core here (taskset and two cores are needed), so ratios are rough'
)
const rows: ReportRow[] = []
try {
  for (const name of names) {
    stopping.signal.throwIfAborted()
    say(name)
    rows.push(...((await measures[name]?.(options)) ?? []))
  }
} finally {
  if (rows.length > 0) process.stdout.write(`${renderReport(rows)}\n`)
}
if (rows.some(row => meetsTarget(row) === false)) process.exitCode = 1

// the standard output must contain only the table
function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
