const beatMs = 50
/** How much of a delay is remembered at the next beat, so that one answer in between does not end it. */
const memory = 0.8

export interface Lag extends Disposable {
  /** By how many milliseconds the event loop is late at present. */
  ms(): number
}

/** Watches how late a timer comes: the process is asked for more than it can do. */
export function openLag(now: () => number = () => performance.now()): Lag {
  let last = now()
  let late = 0
  const timer = setInterval(() => {
    const at = now()
    late = Math.max(at - last - beatMs, late * memory)
    last = at
  }, beatMs)
  timer.unref()
  return {
    ms: () => Math.max(late, now() - last - beatMs),
    [Symbol.dispose]: () => clearInterval(timer)
  }
}
