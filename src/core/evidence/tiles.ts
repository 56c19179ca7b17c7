import { type Bytes, concatBytes, fromUtf8, toUtf8 } from '../bytes.ts'
import { hashChildren, rootOf } from './merkle-tree.ts'

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

/** A published file: hashes of the tree, or the leaves below a tile of level 0. */
export type TileFile = { kind: 'hashes'; tile: TilePlace; width: number } | EntriesFile

interface EntriesFile {
  kind: 'entries'
  index: number
  width: number
}

/** Leaves from `start` on, without the one at `end`. */
interface Range {
  start: number
  end: number
}

/** A subtree of 2^height leaves. `index` of them are to its left. */
interface Subtree {
  height: number
  index: number
}

export const tileWidth = 256
const tileHeight = 8
const hashBytes = 32

/** Proves that a tree of `size` leaves has the leaf: from its sibling up (RFC 9162, 2.1.3.1). */
export async function inclusionSteps(
  index: number,
  size: number,
  read: TileReader
): Promise<Bytes[]> {
  if (!(index >= 0 && index < size)) throw new Error('tiles: no such leaf in the tree')
  const siblings: Range[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + largestPowerBelow(end - start)
    siblings.push(index < middle ? { start: middle, end } : { start, end: middle })
    if (index < middle) end = middle
    else start = middle
  }
  return hashRanges(siblings.reverse(), size, read)
}

/** Proves that a tree of `size2` leaves begins with that of `size1` (RFC 9162, 2.1.4.1). */
export async function consistencySteps(
  size1: number,
  size2: number,
  read: TileReader
): Promise<Bytes[]> {
  if (!(size1 > 0 && size1 <= size2)) throw new Error('tiles: a tree grows from one leaf or more')
  const siblings: Range[] = []
  let [start, end] = [0, size2]
  while (end !== size1) {
    const middle = start + largestPowerBelow(end - start)
    siblings.push(size1 <= middle ? { start: middle, end } : { start, end: middle })
    if (size1 <= middle) end = middle
    else start = middle
  }
  // a complete subtree whose root the reader has, the root of the old tree, is left out
  if (start > 0) siblings.push({ start, end })
  return hashRanges(siblings.reverse(), size2, read)
}

export async function rootFromTiles(size: number, read: TileReader): Promise<Bytes> {
  const [root] = await hashRanges([{ start: 0, end: size }], size, read)
  if (!root) throw new Error('tiles: no root')
  return root
}

/**
 * Appends leaves, of which it takes the results of `hashLeaf`, to a tree of `size` leaves. Returns
 * the tiles that change, lower levels first, and the new root.
 */
export async function growTiles(
  size: number,
  leafHashes: readonly Bytes[],
  read: TileReader
): Promise<{ tiles: { place: TilePlace; hashes: Bytes }[]; root: Bytes }> {
  const tiles: { place: TilePlace; hashes: Bytes }[] = []
  const changed = new Map<string, Bytes>()
  let [level, count, added] = [0, size, leafHashes]
  while (added.length > 0) {
    const whole: Bytes[] = []
    const first = Math.floor(count / tileWidth)
    const held = count % tileWidth
    const before = held > 0 ? [await readHashes(read, { level, index: first }, held)] : []
    // the first tile goes on where it ended
    for (let at = -held; at < added.length; at += tileWidth) {
      const place = { level, index: first + (at + held) / tileWidth }
      const own = added.slice(Math.max(at, 0), at + tileWidth)
      const hashes = concatBytes(...(at < 0 ? before : []), ...own)
      tiles.push({ place, hashes })
      changed.set(nameOf(place), hashes)
      if (hashes.length === tileWidth * hashBytes) whole.push(rootOfComplete(hashes))
    }
    ;[level, count, added] = [level + 1, first, whole]
  }
  const root = await rootFromTiles(
    size + leafHashes.length,
    async (place, width) => changed.get(nameOf(place)) ?? read(place, width)
  )
  return { tiles, root }
}

/**
 * `tile/0/x001/067.p/8` → the first 8 hashes of tile 1067 of level 0. Returns undefined for any
 * other spelling than that of `formatTilePath`.
 */
export function parseTilePath(path: string): TileFile | undefined {
  const match = /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path)
  const [, level = '', groups = '', partial] = match ?? []
  const index = Number(groups.replace(/[x/]/g, ''))
  const width = partial === undefined ? tileWidth : Number(partial)
  const file: TileFile =
    level === 'entries'
      ? { kind: 'entries', index, width }
      : { kind: 'hashes', tile: { level: Number(level), index }, width }
  const isLevel = level === 'entries' || Number(level) <= 63
  if (!match || !isLevel || !Number.isSafeInteger(index)) return undefined
  if (width < 1 || width > tileWidth) return undefined
  return formatTilePath(file) === path ? file : undefined
}

export function formatTilePath(file: TileFile): string {
  const { level, index } =
    file.kind === 'entries' ? { level: 'entries', index: file.index } : file.tile
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g) ?? []
  const folders = groups.slice(0, -1).map(group => `x${group}`)
  const path = ['tile', level, ...folders, groups.at(-1)].join('/')
  return file.width === tileWidth ? path : `${path}.p/${file.width}`
}

/** Each leaf with its length before it, in two bytes. */
export function formatEntries(leaves: readonly string[]): Bytes {
  return concatBytes(
    ...leaves.flatMap(leaf => {
      const bytes = toUtf8(leaf)
      if (bytes.length > 65_535) throw new Error('entries: a leaf is too long')
      return [Uint8Array.of(bytes.length >> 8, bytes.length & 255), bytes]
    })
  )
}

/** Returns the bytes of the first `count` entries. Throws if there are not so many. */
export function cutEntries(entries: Bytes, count: number): Bytes {
  let end = 0
  for (let i = 0; i < count; i++) end = endOfEntry(entries, end)
  return entries.subarray(0, end)
}

/** Returns the leaves. Throws if the bytes are not whole entries. */
export function parseEntries(entries: Uint8Array): string[] {
  const leaves: string[] = []
  for (let at = 0; at < entries.length; ) {
    const end = endOfEntry(entries, at)
    leaves.push(fromUtf8(entries.subarray(at + 2, end)))
    at = end
  }
  return leaves
}

/** Returns the root of each range, from tiles of a tree of `size` leaves. */
async function hashRanges(
  ranges: readonly Range[],
  size: number,
  read: TileReader
): Promise<Bytes[]> {
  const parts = ranges.map(subtreesOf)
  const places = new Map(parts.flat().map(part => [nameOf(tileOf(part)), tileOf(part)]))
  const tiles = new Map(
    await Promise.all(
      [...places].map(async ([name, place]) => {
        const count = Math.floor(size / tileWidth ** place.level) - place.index * tileWidth
        return [name, await readHashes(read, place, Math.min(count, tileWidth))] as const
      })
    )
  )
  return parts.map((subtrees, i) => {
    const hashes = subtrees.map(({ height, index }) => {
      const width = 2 ** (height % tileHeight)
      const first = (index * width) % tileWidth
      const tile = tiles.get(nameOf(tileOf({ height, index })))
      if (!tile) throw new Error('tiles: a tile is missing')
      return rootOfComplete(tile.subarray(first * hashBytes, (first + width) * hashBytes))
    })
    const { start = 0, end = 0 } = ranges[i] ?? {}
    return rootOf({ size: end - start, hashes })
  })
}

/** The complete subtrees of which a range consists, largest first. */
function subtreesOf({ start, end }: Range): Subtree[] {
  const subtrees: Subtree[] = []
  for (let at = start; at < end; ) {
    // the largest power of two that is not above the rest
    const width = largestPowerBelow(end - at + 1)
    subtrees.push({ height: Math.round(Math.log2(width)), index: at / width })
    at += width
  }
  return subtrees
}

/** The tile that has the hashes from which the root of the subtree follows. */
function tileOf({ height, index }: Subtree): TilePlace {
  const width = 2 ** (height % tileHeight)
  return {
    level: Math.floor(height / tileHeight),
    index: Math.floor((index * width) / tileWidth)
  }
}

async function readHashes(read: TileReader, place: TilePlace, width: number): Promise<Bytes> {
  const hashes = await read(place, width)
  if (hashes.length < width * hashBytes) throw new Error('tiles: a tile has too few hashes')
  return hashes.subarray(0, width * hashBytes)
}

/** The number of hashes is a power of two. */
function rootOfComplete(hashes: Bytes): Bytes {
  if (hashes.length === hashBytes) return hashes
  const middle = hashes.length / 2
  return hashChildren(
    rootOfComplete(hashes.subarray(0, middle)),
    rootOfComplete(hashes.subarray(middle))
  )
}

function endOfEntry(entries: Uint8Array, at: number): number {
  const [high, low] = entries.subarray(at, at + 2)
  if (high === undefined || low === undefined) throw new Error('entries: a length is missing')
  const end = at + 2 + high * 256 + low
  if (end > entries.length) throw new Error('entries: a leaf is incomplete')
  return end
}

function nameOf({ level, index }: TilePlace): string {
  return `${level}/${index}`
}

function largestPowerBelow(size: number): number {
  let power = 1
  // no shifts: sizes exceed 32 bits
  while (power * 2 < size) power *= 2
  return power
}
