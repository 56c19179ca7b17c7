import fc from 'fast-check'

/**
 * The scale of `npm run soak`, by which it multiplies the number of random cases. Undefined in a
 * normal run.
 */
const soak = process.env.SOAK === undefined ? undefined : Number(process.env.SOAK)

/** Whether this is `npm run soak`, which tries what a normal run leaves out. */
export const isSoak = soak !== undefined

/**
 * Seed of the random tests. It is the same in each run, so that failures repeat; `npm run soak`
 * sets others.
 */
export const seed = Number(process.env.SEED ?? 20_260_503)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })

/**
 * Returns the number of random cases with which a test checks a property. A normal run has `here`
 * cases. `npm run soak` has `long` times its scale, but at least `here`.
 */
export function runCount(here: number, long: number): number {
  return soak === undefined ? here : Math.max(here, Math.round(long * soak))
}

/** Returns a test's timeout in milliseconds. It is a day in `npm run soak`. */
export function testTimeout(milliseconds: number): number {
  return soak === undefined ? milliseconds : 86_400_000
}
