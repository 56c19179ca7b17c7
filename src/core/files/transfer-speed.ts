const windowMilliseconds = 5_000
// earlier estimates would vary too much
const settlingMilliseconds = 3_000

/** Over the last five seconds. Absent until it can be measured. */
export interface TransferSpeed {
  bytesPerSecond?: number
  secondsLeft?: number
}

interface Sample {
  at: number
  bytes: number
}

/** Returns the meter of one transfer, to call with the time, the bytes so far and all bytes. */
export function createSpeedMeter(): (
  at: number,
  bytesDone: number,
  total: number
) => TransferSpeed {
  let samples: Sample[] = []
  let started: number | undefined
  return (at, bytesDone, total) => {
    const last = samples.at(-1)
    if (last && bytesDone < last.bytes) samples = [] // an upload resumed from fewer bytes
    started ??= at
    samples.push({ at, bytes: bytesDone })
    while (samples.length > 2 && at - (samples[1]?.at ?? at) >= windowMilliseconds) samples.shift()
    const first = samples[0] ?? { at, bytes: bytesDone }
    if (at === first.at) return {}
    const bytesPerSecond = ((bytesDone - first.bytes) * 1000) / (at - first.at)
    if (at - started < settlingMilliseconds || bytesPerSecond <= 0) return { bytesPerSecond }
    return { bytesPerSecond, secondsLeft: (total - bytesDone) / bytesPerSecond }
  }
}
