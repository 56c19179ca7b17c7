import { chmod, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { TilePlace } from '../../core/evidence/tiles.ts'
import { ignoreMissingFile } from '../db/missing-files.ts'
import type { LogFiles } from '../domain/deps.ts'
import { makeDurableFolder, replaceFile } from './durable-files.ts'

const [compress, decompress] = [promisify(gzip), promisify(gunzip)]

/**
 * `<log>/checkpoint`, `<log>/tile/<level>/<index>` and `<log>/entries/<index>`, the entries
 * compressed, and `<log>/successor` of a retired log. A tile or a bundle that grows is replaced.
 * Indexes are in two folders of three digits, so that no folder holds more than a thousand files.
 */
export function openLogFiles(directory: string): LogFiles {
  const checkpoint = (log: string) => join(folderOf(log), 'checkpoint')
  const successor = (log: string) => join(folderOf(log), 'successor')
  const tilePath = (log: string, { level, index }: TilePlace) =>
    join(folderOf(log), 'tile', String(level), numberPath(index))
  const entriesPath = (log: string, index: number) =>
    join(folderOf(log), 'entries', `${numberPath(index)}.gz`)

  function folderOf(log: string): string {
    if (!/^[0-9a-f]{64}$/.test(log)) throw new Error('a log id has 64 hex digits')
    return join(directory, log)
  }
  async function write(
    path: string,
    bytes: string | Uint8Array,
    check?: () => Promise<void>
  ): Promise<void> {
    await makeDurableFolder(dirname(path), directory)
    await replaceFile(path, bytes, check)
  }
  const readCheckpoint = (log: string) => readFile(checkpoint(log), 'utf8').catch(ignoreMissingFile)
  async function read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const bytes = await readFile(path).catch(ignoreMissingFile)
    return bytes && new Uint8Array(bytes)
  }
  return {
    readCheckpoint,
    writeCheckpoint: (log, note, before) =>
      write(checkpoint(log), note, async () => {
        if ((await readCheckpoint(log)) !== before)
          throw new Error(`the checkpoint of log ${log} was replaced meanwhile`)
      }),
    readTile: (log, tile) => read(tilePath(log, tile)),
    writeTile: (log, tile, hashes) => write(tilePath(log, tile), hashes),
    async readEntries(log, index) {
      const packed = await read(entriesPath(log, index))
      return packed && new Uint8Array(await decompress(packed))
    },
    writeEntries: async (log, index, entries) =>
      write(entriesPath(log, index), await compress(entries)),
    readSuccessor: log => readFile(successor(log), 'utf8').catch(ignoreMissingFile),
    writeSuccessor: (log, origin) => write(successor(log), origin),
    async readFolderTime() {
      const found = await stat(directory).catch(ignoreMissingFile)
      if (!found || found.birthtimeMs <= 0) return undefined
      if (found.birthtimeMs !== found.ctimeMs) return found.birthtime
      // a system that does not know may answer with the time of the last change, so there is a new one
      await chmod(directory, found.mode).catch(() => undefined)
      const { birthtimeMs, ctimeMs } = await stat(directory)
      return birthtimeMs === ctimeMs ? undefined : found.birthtime
    },
    async isFolderEmpty() {
      const names = await readdir(directory).catch(ignoreMissingFile)
      return names === undefined || names.length === 0
    },
    remove: log => rm(folderOf(log), { recursive: true, force: true })
  }
}

/** 1234567 → `001/234/567` */
function numberPath(index: number): string {
  const digits = String(index).padStart(9, '0')
  const groups = [digits.slice(0, -6), digits.slice(-6, -3), digits.slice(-3)]
  return join(...groups)
}
