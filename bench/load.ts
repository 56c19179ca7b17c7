import { median, type Options, quantile } from './table.ts'

export interface Load {
  perSecond: number
  /** Of one piece of work. */
  p99Ms: number
  done: number
}

/** `callers` at a time do `work` over and over for some seconds. */
export async function load(options: {
  callers: number
  seconds: number
  signal?: AbortSignal
  work: (caller: number) => Promise<unknown>
}): Promise<Load> {
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

/** Adds to the figures of a run what one piece of its work took of the server's core, in µs. */
export async function weighed(
  coreSeconds: () => number,
  run: () => Promise<Load>
): Promise<{ perSecond: number; p99Ms: number; micros: number }> {
  const before = coreSeconds()
  const { perSecond, p99Ms, done } = await run()
  return { perSecond, p99Ms, micros: ((coreSeconds() - before) * 1e6) / done }
}

/** What one piece of work took, which other work on the machine changes less than what got done in a second. */
export function microsNote(figures: {
  ours: { micros: number }
  peer: { micros: number }
}): string {
  const { ours, peer } = figures
  return `${Math.round(ours.micros)} µs of the server's core each, the peer ${Math.round(peer.micros)}`
}

/** Both in turns, after one turn of each that does not count; the medians of every figure. */
export async function interleave<Figures extends Record<string, number>>(
  { runs, signal }: Options,
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
  // as: the same names, each with a number again
  return Object.fromEntries(
    names.map(name => [name, median(runs.map(run => run[name] ?? Number.NaN))])
  ) as Figures
}
