import { describe, expect, test } from 'vitest'
import { type Bytes, concatBytes } from '../../../../src/core/bytes.ts'
import { verifyConsistency, verifyInclusion } from '../../../../src/core/evidence/merkle-proofs.ts'
import {
  consistencySteps,
  cutEntries,
  formatEntries,
  formatTilePath,
  growTiles,
  inclusionSteps,
  parseEntries,
  parseTilePath,
  rootFromTiles,
  type TileFile,
  type TilePlace,
  type TileReader,
  tileWidth
} from '../../../../src/core/evidence/tiles.ts'
import { defineTree } from '../../../helpers/evidence/defined-tree.ts'
import { sha256 } from '../../../helpers/evidence/evidence-log.ts'
import { createRandom } from '../../../helpers/random.ts'
import { seed } from '../../../helpers/soak.ts'

const random = createRandom(seed)
const tree = defineTree(66_100)
const leaves = tree.leafHashes.map(bytesOf)

/** Files of a log in memory. They hold the tree of `leaves` at this size. */
class Folder {
  size = 0
  readonly tiles = new Map<string, Bytes>()

  /** Refuses what the tree at `size` does not have, as the server does. */
  readerAt(size: number): TileReader {
    return async ({ level, index }, width) => {
      const count = Math.min(tileWidth, Math.floor(size / tileWidth ** level) - index * tileWidth)
      const tile = this.tiles.get(`${level}/${index}`)
      if (!tile || width > count) throw new Error(`tile ${level}/${index} has no ${width} hashes`)
      return tile.subarray(0, count * 32)
    }
  }

  async grow(to: number): Promise<{ places: TilePlace[]; root: Buffer }> {
    const { tiles, root } = await growTiles(
      this.size,
      leaves.slice(this.size, to),
      this.readerAt(this.size)
    )
    for (const { place, hashes } of tiles) this.tiles.set(`${place.level}/${place.index}`, hashes)
    this.size = to
    return { places: tiles.map(({ place }) => place), root: Buffer.from(root) }
  }
}

const whole = new Folder()
await whole.grow(leaves.length)

describe('tiles of a tree', () => {
  test('hold the hashes of the definition', () => {
    const level1 = Array.from({ length: 258 }, (_, i) => tree.root(i * 256, i * 256 + 256))
    const level2 = [tree.root(0, 65_536)]
    const names = [tree.leafHashes, level1, level2].flatMap((hashes, level) =>
      Array.from({ length: Math.ceil(hashes.length / 256) }, (_, i) => {
        const tile = Buffer.concat(hashes.slice(i * 256, i * 256 + 256))
        expect(tile.equals(whole.tiles.get(`${level}/${i}`) ?? tile.subarray(1))).toBe(true)
        return `${level}/${i}`
      })
    )
    expect([...whole.tiles.keys()]).toEqual(names)
  })

  test('give the root at each size up to 600, and near 256 × 256', async () => {
    const sizes = [
      ...Array.from({ length: 601 }, (_, i) => i),
      ...[65_535, 65_536, 65_537, 65_791, 65_792, 65_793, 66_048, 66_100]
    ]
    for (const size of sizes) {
      const root = await rootFromTiles(size, whole.readerAt(size))
      expect(tree.root(0, size).equals(root), `size ${size}`).toBe(true)
    }
  })

  test('are the same whether leaves come one by one, in steps or at once', async () => {
    const slow = new Folder()
    while (slow.size < 600) {
      const { root } = await slow.grow(slow.size + 1)
      expect(root).toEqual(tree.root(0, slow.size))
    }
    while (slow.size < leaves.length) {
      const to = Math.min(leaves.length, slow.size + random.pick([1, 2, 200, 256, 300, 5_000]))
      const { root } = await slow.grow(to)
      expect(root).toEqual(Buffer.from(await rootFromTiles(to, whole.readerAt(to))))
    }
    expect(slow.tiles.size).toBe(whole.tiles.size)
    for (const [name, tile] of slow.tiles)
      expect(Buffer.compare(tile, whole.tiles.get(name) ?? Buffer.of()), name).toBe(0)
  })

  test.each([
    [0, 0, []],
    [0, 255, ['0/0']],
    [0, 257, ['0/0', '0/1', '1/0']],
    [300, 300, []],
    [254, 255, ['0/0']],
    [255, 256, ['0/0', '1/0']],
    [256, 257, ['0/1']],
    [65_535, 65_537, ['0/255', '0/256', '1/0', '2/0']]
  ])('from %i leaves to %i, only those change that get hashes', async (from, to, names) => {
    const folder = new Folder()
    await folder.grow(from)
    const { places, root } = await folder.grow(to)
    expect(places.map(({ level, index }) => `${level}/${index}`)).toEqual(names)
    expect(root).toEqual(tree.root(0, to))
  })

  test('take 100,000 leaves at once', async () => {
    const many = [...leaves, ...leaves].slice(0, 100_000)
    const start = performance.now()
    const { tiles } = await growTiles(0, many, () => Promise.reject(new Error('nothing to read')))
    expect(tiles).toHaveLength(391 + 2 + 1)
    expect(performance.now() - start).toBeLessThan(5_000)
  })

  test('that lack hashes give no root', async () => {
    await expect(rootFromTiles(300, async () => new Uint8Array(43 * 32))).rejects.toThrow('few')
    await expect(growTiles(3, leaves.slice(3, 4), async () => new Uint8Array(64))).rejects.toThrow()
  })
})

describe('proofs', () => {
  test('are those of the definition', async () => {
    for (let size = 1; size <= 600; size++) {
      const read = whole.readerAt(size)
      for (const at of [0, size - 1, random.integer(0, size - 1), random.integer(0, size - 1)]) {
        expect(textOf(await inclusionSteps(at, size, read))).toBe(textOf(tree.path(at, size)))
        const growth = await consistencySteps(at + 1, size, read)
        expect(textOf(growth)).toBe(textOf(tree.consistency(at + 1, size)))
      }
    }
  })

  test('hold at random sizes and near 256 × 256', async () => {
    const edges = [65_535, 65_536, 65_537, 65_791, 65_792, 65_793]
    const sizes = Array.from({ length: 200 }, () => random.integer(1, leaves.length))
    for (const size2 of [...edges, ...sizes]) {
      const index = random.integer(0, size2 - 1)
      const size1 = random.chance(0.1)
        ? random.pick(edges.filter(each => each <= size2).concat(1))
        : index + 1
      const read = whole.readerAt(size2)
      const [root1, root2] = await Promise.all(
        [size1, size2].map(size => rootFromTiles(size, whole.readerAt(size)))
      )
      const inclusion = {
        index: BigInt(index),
        size: BigInt(size2),
        leafHash: leaves[index] ?? Buffer.of(),
        root: root2 ?? Buffer.of(),
        steps: await inclusionSteps(index, size2, read)
      }
      expect(verifyInclusion(inclusion), `${index} of ${size2}`).toBe(true)
      const consistency = {
        size1: BigInt(size1),
        size2: BigInt(size2),
        root1: root1 ?? Buffer.of(),
        root2: root2 ?? Buffer.of(),
        steps: await consistencySteps(size1, size2, read)
      }
      expect(verifyConsistency(consistency), `${size1} to ${size2}`).toBe(true)
    }
  })

  test('read each tile once', async () => {
    const names: string[] = []
    const read: TileReader = (place, width) => {
      names.push(formatTilePath({ kind: 'hashes', tile: place, width }))
      return whole.readerAt(66_100)(place, width)
    }
    await inclusionSteps(66_000, 66_100, read)
    expect(names.sort()).toEqual([
      'tile/0/257',
      'tile/0/258.p/52',
      'tile/1/001.p/2',
      'tile/2/000.p/1'
    ])
  })

  test('are not made for leaves and sizes that the tree does not have', async () => {
    const read = whole.readerAt(5)
    for (const index of [-1, 5, Number.NaN])
      await expect(inclusionSteps(index, 5, read)).rejects.toThrow('no such leaf')
    for (const size of [-1, 0, 6, Number.NaN])
      await expect(consistencySteps(size, 5, read)).rejects.toThrow('grows')
  })

  // 2^53 − 1 leaves, all alike: the tiles of a level hold one hash 256 times
  test('of the largest trees hold', async () => {
    const alike = [bytesOf(sha256('\0'))]
    for (let level = 0; level < 7; level++) {
      const below = alike[level] ?? bytesOf(sha256())
      let root: Buffer = Buffer.from(below)
      for (let height = 0; height < 8; height++) root = sha256('\x01', root, root)
      alike.push(bytesOf(root))
    }
    const read: TileReader = async ({ level }, width) =>
      concatBytes(...Array.from({ length: width }, () => alike[level] ?? Buffer.alloc(32)))
    const size = Number.MAX_SAFE_INTEGER
    const root = await rootFromTiles(size, read)
    for (const index of [0, 2 ** 40, 2 ** 52, size - 1]) {
      const steps = await inclusionSteps(index, size, read)
      const leafHash = alike[0] ?? Buffer.of()
      const proof = { index: BigInt(index), size: BigInt(size), leafHash, root, steps }
      expect(verifyInclusion(proof), `leaf ${index}`).toBe(true)
    }
  })
})

describe('paths', () => {
  const tile = (level: number, index: number, width = 256): TileFile => ({
    kind: 'hashes',
    tile: { level, index },
    width
  })
  const entries = (index: number, width = 256): TileFile => ({ kind: 'entries', index, width })

  test.each([
    ['tile/0/000', tile(0, 0)],
    ['tile/1/067.p/1', tile(1, 67, 1)],
    ['tile/0/x001/000', tile(0, 1000)],
    ['tile/0/x001/x234/067', tile(0, 1_234_067)],
    ['tile/63/999.p/255', tile(63, 999, 255)],
    ['tile/9/x009/x007/x199/x254/x740/991', tile(9, Number.MAX_SAFE_INTEGER)],
    ['tile/entries/000.p/7', entries(0, 7)],
    ['tile/entries/x123/456', entries(123_456)]
  ])('have one spelling: %s', (path, file) => {
    expect(parseTilePath(path)).toEqual(file)
    expect(formatTilePath(file)).toBe(path)
  })

  test.each([
    '',
    'tile/0',
    'tile/0/',
    'tile/0/0',
    'tile/0/00',
    'tile/0/0000',
    'tile/0/1000',
    'tile/0/x000/001',
    'tile/0/001/000',
    'tile/0/x001/x000',
    'tile/0/x001/00',
    'tile/0/X001/000',
    'tile/0/x001000',
    'tile/0/x009/x007/x199/x254/x740/992',
    'tile/0/x001/x009/x007/x199/x254/x740/991',
    'tile/00/000',
    'tile/01/000',
    'tile/64/000',
    'tile/100/000',
    'tile/-1/000',
    'tile//000',
    'tile/data/000',
    'tile/entries',
    'tile/0/000.p',
    'tile/0/000.p/',
    'tile/0/000.p/0',
    'tile/0/000.p/01',
    'tile/0/000.p/256',
    'tile/0/000.p/300',
    'tile/0/000.p/1/',
    'tile/0/x001.p/1/000',
    'tile/0/000/',
    '/tile/0/000',
    'tile/0/000\n',
    'tile/0/٠٠٠',
    'tile/0/000?x',
    'tiles/0/000'
  ])('are refused with another: %j', path => {
    expect(parseTilePath(path)).toBeUndefined()
  })
})

describe('entries', () => {
  const texts = ['{}', '', 'é', 'x'.repeat(65_535), '{"v":1}']
  const bytes = formatEntries(texts)

  test('have their length before them, in two bytes', () => {
    expect(formatEntries(['{}', 'é'])).toEqual(Uint8Array.of(0, 2, 123, 125, 0, 2, 0xc3, 0xa9))
    expect([...formatEntries([texts[3] ?? '']).subarray(0, 2)]).toEqual([255, 255])
    expect(() => formatEntries(['é'.repeat(32_768)])).toThrow('too long')
  })

  test('are read and cut whole', () => {
    expect(parseEntries(bytes)).toEqual(texts)
    for (let count = 0; count <= texts.length; count++)
      expect(cutEntries(bytes, count)).toEqual(formatEntries(texts.slice(0, count)))
    expect(() => cutEntries(bytes, 6)).toThrow('missing')
  })

  test('are refused if they are not whole', () => {
    const small = formatEntries(['{}', 'ab'])
    for (const length of [1, 2, 3, 5, 7]) {
      expect(() => parseEntries(small.subarray(0, length))).toThrow('entries')
      expect(() => cutEntries(small.subarray(0, length), 2)).toThrow('entries')
    }
    expect(() => parseEntries(Uint8Array.of(0, 1, 0xff))).toThrow()
  })
})

function textOf(steps: readonly Uint8Array[]): string {
  return Buffer.concat(steps).toString('hex')
}

function bytesOf(buffer: Buffer): Bytes {
  return new Uint8Array(buffer)
}
