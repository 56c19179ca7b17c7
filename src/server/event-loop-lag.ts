const beatMs = 50
/** So many beats in a row are late: a short pause, of the machine or to collect garbage, is no overload. */
const beats = 3
/** One delay of this length counts by itself: a call that holds the loop so long keeps everybody out. */
const longMs = 1000
/** How much of a delay is remembered at the next beat, so that one that is in time does not end it. */
const memory = 0.8

export interface EventLoopLag extends Disposable {
  /** By how many milliseconds the event loop is late: at least for some beats, or once for long. */
  ms(): number
}

/** Watches how late a timer comes: the process is asked for more than it can do. */
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

/** Returns a function that takes the delay of each beat and returns how late the event loop is. */
export function createLagMeter(): (delay: number) => number {
  let late = 0
  const delays = Array.from({ length: beats }, () => 0)
  return delay => {
    delays.shift()
    delays.push(delay)
    late = Math.max(Math.min(...delays), delay < longMs ? 0 : delay, late * memory)
    return late
  }
}
