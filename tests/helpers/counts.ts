import fc from 'fast-check'

/** Set by `npm run soak`: which share of the long counts is wanted. */
const soak = process.env.SOAK === undefined ? undefined : Number(process.env.SOAK)

/** What a failing run printed; the same numbers come again. */
export const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })

/** How often a property is tried here, and how often by `npm run soak`. */
export function times(here: number, long: number): number {
  return soak === undefined ? here : Math.max(here, Math.round(long * soak))
}

/** A test's patience, without an end where it is run long. */
export function patience(milliseconds: number): number {
  return soak === undefined ? milliseconds : 86_400_000
}
