import type { Bytes } from '../bytes.ts'

/**
 * Up to 256 hashes of the tree of a log (C2SP tlog-tiles): those of leaves on level 0, and on each
 * level above, the roots of whole tiles below.
 */
export interface TilePlace {
  level: number
  index: number
}

/** Returns at least `width` hashes of 32 bytes each. Throws if it has not so many. */
export type TileReader = (tile: TilePlace, width: number) => Promise<Bytes>
