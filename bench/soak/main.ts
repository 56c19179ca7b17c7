import { parseArgs } from 'node:util'
import { crash } from './crash.ts'

/**
 * Long runs of what the tests try a few times: `npm run soak -- --only C-01 --kills 30 --seed 7`.
 * `--scale 0.1` shortens all of it. Prints the seed first and a JSON report last.
 */
const scenarios: Record<string, (options: Options) => Promise<{ faults: string[] }>> = {
  'C-01': ({ seed, kills, scale }) =>
    crash({ seed, kills: Math.max(1, Math.round(kills * scale)), maxRestartMs: 5000, onKill: say })
}

interface Options {
  seed: number
  kills: number
  scale: number
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    kills: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    scale: { type: 'string', default: '1' }
  }
})
const options: Options = {
  seed: numberOf('seed', values.seed),
  kills: numberOf('kills', values.kills),
  scale: numberOf('scale', values.scale)
}
const names = values.only === undefined ? Object.keys(scenarios) : [values.only]
say(`seed ${options.seed}`)

const report: Record<string, object> = {}
for (const name of names) {
  const scenario = scenarios[name]
  if (!scenario) throw new Error(`--only takes ${Object.keys(scenarios).join(', ')}`)
  say(name)
  const result = await scenario(options)
  report[name] = result
  if (result.faults.length > 0) process.exitCode = 1
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)

/** To the error stream, so that the report alone is on the other. */
function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number) || number <= 0) throw new Error(`--${name} takes a number above 0`)
  return number
}
