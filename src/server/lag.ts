const beatMs = 50
/** So many beats in a row are late: one pause, of the machine or to collect garbage, is no overload. */
const beats = 3
/** How much of a delay is remembered at the next beat, so that one that is in time does not end it. */
const memory = 0.8

export interface Lag extends Disposable {
  /** By how many milliseconds the event loop has been late for some time, at least. */
  ms(): number
}

/** Watches how late a timer comes: the process is asked for more than it can do. */
export function openLag(now: () => number = () => performance.now()): Lag {
  let last = now()
  let late = 0
  const delays = Array.from({ length: beats }, () => 0)
  const timer = setInterval(() => {
    const at = now()
    delays.shift()
    delays.push(at - last - beatMs)
    late = Math.max(Math.min(...delays), late * memory)
    last = at
  }, beatMs)
  timer.unref()
  return {
    ms: () => late,
    [Symbol.dispose]: () => clearInterval(timer)
  }
}
