const windowMilliseconds = 5_000
/**
 * How many milliseconds a transfer must run before its remaining time is estimated. Earlier
 * estimates would vary too much.
 */
const settlingMilliseconds = 3_000

/**
 * The speed of a transfer over the last five seconds and the estimated remaining time. A value is
 * absent until it can be measured.
 */
export interface TransferSpeed {
  bytesPerSecond?: number
  secondsLeft?: number
}

interface Sample {
  at: number
  bytes: number
}

/**
 * Returns a function that measures the speed of one transfer. Call the function with the time in
 * milliseconds, the bytes transferred so far and the total bytes.
 */
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
