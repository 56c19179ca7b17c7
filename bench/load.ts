import { type BenchOptions, median, quantile } from './table.ts'

export interface LoadFigures {
  perSecond: number
  p99Ms: number
  done: number
}

/**
 * Each caller waits for its call to end before it makes the next one. Throws when a call fails or
 * `signal` is aborted.
 */
export async function runLoad(options: {
  callers: number
  seconds: number
  signal?: AbortSignal
  work: (caller: number) => Promise<unknown>
}): Promise<LoadFigures> {
  const { callers, seconds, signal, work } = options
  const started = performance.now()
  const until = started + seconds * 1000
  const times: number[] = []
  async function call(caller: number): Promise<void> {
    for (let from = performance.now(); from < until; ) {
      signal?.throwIfAborted()
      await work(caller)
      const now = performance.now()
      times.push(now - from)
      from = now
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  const elapsed = (performance.now() - started) / 1000
  return {
    perSecond: times.length / elapsed,
    p99Ms: quantile(times, 0.99),
    done: times.length
  }
}

/**
 * Repeats `call` while `work` runs. Returns the time of `work` and the 99th percentile of the calls,
 * in milliseconds.
 */
export async function beside(
  call: () => Promise<unknown>,
  work: () => Promise<unknown>
): Promise<{ ms: number; p99Ms: number }> {
  const started = performance.now()
  const times: number[] = []
  let isOver = false
  const calls = (async () => {
    while (!isOver) {
      const from = performance.now()
      await call()
      times.push(performance.now() - from)
    }
  })()
  try {
    await work()
  } finally {
    isOver = true
  }
  const ms = performance.now() - started
  await calls
  return { ms, p99Ms: quantile(times, 0.99) }
}

/** `coreSeconds` returns the processor time that the measured process has used so far. */
export async function withProcessorTime(
  coreSeconds: () => number,
  run: () => Promise<LoadFigures>
): Promise<{ perSecond: number; p99Ms: number; micros: number }> {
  const before = coreSeconds()
  const { perSecond, p99Ms, done } = await run()
  return { perSecond, p99Ms, micros: ((coreSeconds() - before) * 1e6) / done }
}

/** Other work on the machine changes this figure less than the number of calls per second. */
export function processorTimeNote(figures: {
  ours: { micros: number }
  peer: { micros: number }
}): string {
  const { ours, peer } = figures
  return `${Math.round(ours.micros)} µs of the server's core each, the peer ${Math.round(peer.micros)}`
}

/** Returns the median of each figure. One run of each is a warm-up, whose figures do not count. */
export async function runAlternately<Figures extends Record<string, number>>(
  { runs, signal }: BenchOptions,
  ours: () => Promise<Figures>,
  peer: () => Promise<Figures>
): Promise<{ ours: Figures; peer: Figures }> {
  const all = { ours: [] as Figures[], peer: [] as Figures[] }
  for (let run = 0; run <= runs; run++) {
    signal.throwIfAborted()
    const mine = await ours()
    signal.throwIfAborted()
    const its = await peer()
    if (run === 0) continue
    all.ours.push(mine)
    all.peer.push(its)
  }
  return { ours: medians(all.ours), peer: medians(all.peer) }
}

/** `[{ a: 1 }, { a: 2 }, { a: 9 }]` → `{ a: 2 }` */
export function medians<Figures extends Record<string, number>>(runs: Figures[]): Figures {
  const names = Object.keys(runs[0] ?? {})
  // as: the result has the same names as each run
  return Object.fromEntries(
    names.map(name => [name, median(runs.map(run => run[name] ?? Number.NaN))])
  ) as Figures
}
