const beatMs = 50
/**
 * The number of late timers in a row that count as an overload. A single one may be a pause for
 * garbage collection.
 */
const lateBeats = 3
/** A timer that is this many milliseconds late counts as an overload, even a single one. */
const longMs = 1000
/**
 * The fraction to which the measured lag decreases when a timer fires on time. The lag does not
 * become 0 at once, because one punctual timer does not mean that an overload is over.
 */
const remainingShare = 0.8

export interface EventLoopLag extends Disposable {
  /** Returns by how many milliseconds the event loop is late; 0 when it is on time. */
  ms(): number
}

/**
 * Measures the lag of the event loop: by how much a repeating timer fires late. A high lag means
 * that the process has more work than it can do.
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

/**
 * Returns a function that computes the lag of the event loop. The function must be called each time
 * a repeating timer fires. `msLate` is the number of milliseconds by which the timer fired late.
 * The function returns the lag in milliseconds. Delays below a second raise the lag only if three
 * in a row are late. The lag decreases gradually.
 */
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
