const beatMs = 50
// a single late timer may be a pause for garbage collection
const lateBeats = 3
// an overload, even if a single timer is this late
const longMs = 1000
// a single punctual timer does not mean that an overload is over
const remainingShare = 0.8

export interface EventLoopLag extends Disposable {
  ms(): number
}

/**
 * Measures by how much a repeating timer fires late. A high lag means that the process has more
 * work than it can do.
 */
export function watchEventLoopLag(now: () => number = () => performance.now()): EventLoopLag {
  const read = createLagMeter()
  let last = now()
  let late = 0
  const timer = setInterval(() => {
    const at = now()
    late = read(at - last - beatMs)
    last = at
  }, beatMs)
  timer.unref()
  return {
    ms: () => late,
    [Symbol.dispose]: () => clearInterval(timer)
  }
}

/** Must be called each time a repeating timer fires, with how late it fired. */
export function createLagMeter(): (msLate: number) => number {
  let late = 0
  const delays = Array.from({ length: lateBeats }, () => 0)
  return msLate => {
    delays.shift()
    delays.push(msLate)
    late = Math.max(Math.min(...delays), msLate < longMs ? 0 : msLate, late * remainingShare)
    return late
  }
}
