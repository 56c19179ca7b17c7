import { makeServiceProcess } from '../tests/helpers/service.ts'
import { onServerCore } from './cores.ts'
import { medians } from './load.ts'
import type { BenchOptions, ReportRow } from './table.ts'

/**
 * From the start command until `/readyz` answers 200. A cold start creates and migrates the
 * database; a warm start is the second one in the same folder.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  const runs: { cold: number; warm: number }[] = []
  for (let run = 0; run < options.runs; run++) {
    options.signal.throwIfAborted()
    await using service = await makeServiceProcess()
    const cold = await onServerCore(() => service.start())
    await service.stop()
    const warm = await onServerCore(() => service.start())
    await service.stop()
    runs.push({ cold: cold / 1000, warm: warm / 1000 })
  }
  const { cold, warm } = medians(runs)
  return [
    { what: 'cold start', ours: cold ?? Number.NaN, unit: 's' },
    { what: 'warm start', ours: warm ?? Number.NaN, unit: 's' }
  ]
}
