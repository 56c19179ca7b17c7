import fc from 'fast-check'

/** Set by `npm run soak`: which share of the long counts is wanted. */
const soak = process.env.SOAK === undefined ? undefined : Number(process.env.SOAK)

/** The same in each run of the suite, so that a failure comes again; `npm run soak` draws others. */
export const seed = Number(process.env.SEED ?? 20_260_503)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })

/** How often a property is tried here, and how often by `npm run soak`. */
export function times(here: number, long: number): number {
  return soak === undefined ? here : Math.max(here, Math.round(long * soak))
}

/** A test's patience, without an end where it is run long. */
export function patience(milliseconds: number): number {
  return soak === undefined ? milliseconds : 86_400_000
}
