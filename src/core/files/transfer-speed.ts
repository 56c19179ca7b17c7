const windowMilliseconds = 5_000
/** Before this a time left would jump about. */
const quietMilliseconds = 3_000

/** How fast something moves, over the last five seconds, and how long the rest will take. */
export interface Pace {
  bytesPerSecond?: number
  secondsLeft?: number
}

interface Sample {
  at: number
  bytes: number
}

/** Feed it (milliseconds, bytes so far, bytes in all); time is passed in, so that it holds no clock. */
export function createPace(): (at: number, bytes: number, total: number) => Pace {
  let samples: Sample[] = []
  let started: number | undefined
  return (at, bytes, total) => {
    const last = samples.at(-1)
    if (last && bytes < last.bytes) samples = [] // resumed from what the server holds
    started ??= at
    samples.push({ at, bytes })
    while (samples.length > 2 && at - (samples[1]?.at ?? at) >= windowMilliseconds) samples.shift()
    const first = samples[0] ?? { at, bytes }
    if (at === first.at) return {}
    const bytesPerSecond = ((bytes - first.bytes) * 1000) / (at - first.at)
    if (at - started < quietMilliseconds || bytesPerSecond <= 0) return { bytesPerSecond }
    return { bytesPerSecond, secondsLeft: (total - bytes) / bytesPerSecond }
  }
}
