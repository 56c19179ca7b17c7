/** A repeatable random generator. A failing run prints its seed, with which it can be run again. */
export interface Random {
  /** Returns an integer from `from` to `to`, both included. */
  integer(from: number, to: number): number
  /** Returns true with this probability: `chance(0.1)` once in ten calls on average. */
  chance(share: number): boolean
  pick<T>(from: readonly T[]): T
  bytes(length: number): Buffer
  /** Returns a new generator, so that parallel work does not change the sequence of this one. */
  fork(): Random
}

/** Creates a generator with the algorithm mulberry32. */
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
