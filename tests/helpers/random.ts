/** Chance that a seed repeats: what a failing run printed can be run again. */
export interface Random {
  /** From `from` to `to`, both included. */
  integer(from: number, to: number): number
  /** True this often: `chance(0.1)` once in ten. */
  chance(share: number): boolean
  pick<T>(from: readonly T[]): T
  bytes(length: number): Buffer
  /** A sequence of its own, so that parallel work does not mix its numbers. */
  fork(): Random
}

/** mulberry32 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const word = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const integer = (from: number, to: number) =>
    from + Math.floor((word() / 4_294_967_296) * (to - from + 1))
  return {
    integer,
    chance: share => word() / 4_294_967_296 < share,
    pick(from) {
      const found = from[integer(0, from.length - 1)]
      if (found === undefined) throw new Error('nothing to pick from')
      return found
    },
    bytes(length) {
      const words = new Uint32Array(Math.ceil(length / 4))
      for (let at = 0; at < words.length; at++) words[at] = word()
      return Buffer.from(words.buffer, 0, length)
    },
    fork: () => createRandom(word())
  }
}
