import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import {
  copyFile,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  statfs,
  writeFile
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { ignoreMissingFile } from '../db/missing-files.ts'
import { parseCompanyId } from '../db/scope.ts'
import type { BlobStore, CompanyId, FileDigest, StagedFileId } from '../domain/deps.ts'
import { makeDurableFolder, syncPath } from './durable-files.ts'

/**
 * `staging/<company>/<upload id>[.<takeovers>]` is moved to `blobs/<company>/<aa>/<tag>` by a
 * rename, so both are on one file system. The tag is a keyed hash in hex digits, which begin with
 * `aa`. `removed/<company>` marks that all files of the company must be deleted.
 */
export function openBlobs(directory: string): BlobStore {
  const staged = (file: StagedFileId) => join(directory, 'staging', file.company_id, nameOf(file))
  const kept = (company: CompanyId, tag: Uint8Array) => {
    const name = Buffer.from(tag).toString('hex')
    return join(directory, 'blobs', company, name.slice(0, 2), name)
  }
  const removal = (company: CompanyId) => join(directory, 'removed', company)
  return {
    async space() {
      const folder = join(directory, 'staging')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const { bavail, blocks, bsize } = await statfs(folder)
      return { total: blocks * bsize, free: bavail * bsize }
    },
    stagingDirectory: join(directory, 'staging'),
    stagingFile: staged,
    sizeStaged: async file => (await find(staged(file)))?.size,
    async takeOverStaged(file) {
      // the previous process may have died before it copied the file that it had taken over itself
      for (let generation = file.generation - 1; generation >= 0; generation--) {
        const before = staged({ ...file, generation })
        try {
          await copyFile(before, staged(file), constants.COPYFILE_FICLONE)
        } catch (error) {
          ignoreMissingFile(error)
          continue
        }
        return rm(before, { force: true })
      }
    },
    prepareStaging: company => makeDurableFolder(join(directory, 'staging', company), directory),
    async syncStaged(file) {
      const path = staged(file)
      await syncPath(path)
      await syncPath(dirname(path))
    },
    digestStaged: file => digest(staged(file)),
    digestKept: (company, tag) => digest(kept(company, tag)),
    sizeKept: async (company, tag) => (await find(kept(company, tag)))?.size,
    async keep(file, tag, damaged) {
      const source = staged(file)
      const target = kept(file.company_id, tag)
      await makeDurableFolder(dirname(target), directory)
      const [coming, there] = await Promise.all([find(source), find(target)])
      const isIntact = there && there.ino !== damaged && coming && there.size === coming.size
      if (isIntact) await rm(source)
      // if there is no source, a crash came between rename and commit, and the target is already in
      // place
      else if (coming || !there) await rename(source, target)
      await syncPath(dirname(target))
    },
    async discardStaged(file) {
      await rm(staged(file), { force: true })
    },
    async stage(company_id, id, bytes) {
      const path = staged({ company_id, id, generation: 0 })
      await makeDurableFolder(dirname(path), directory)
      await writeFile(path, bytes, { mode: 0o600, flush: true })
    },
    async removeCompany(company) {
      for (const place of ['staging', 'blobs']) {
        await rm(join(directory, place, company), { recursive: true, force: true })
      }
    },
    async noteRemoval(company) {
      const note = removal(company)
      await makeDurableFolder(dirname(note), directory)
      await writeFile(note, '', { mode: 0o600 })
      await syncPath(dirname(note))
    },
    async listRemovals() {
      const removals: { company: CompanyId; at: Date }[] = []
      for (const name of await namesIn(join(directory, 'removed'))) {
        const company = parseCompanyId(name)
        const note = company && (await find(removal(company)))
        if (note) removals.push({ company, at: note.mtime })
      }
      return removals
    },
    async forgetRemoval(company) {
      await rm(removal(company), { force: true })
    },
    async read(company, tag, range) {
      const file = await open(kept(company, tag), 'r')
      // as: Node's type of a web stream differs from the platform's
      return Readable.toWeb(file.createReadStream(range)) as ReadableStream<Uint8Array<ArrayBuffer>>
    },
    async discardKept(company, tag) {
      await rm(kept(company, tag), { force: true })
    },
    async listStaged(company, before) {
      const names = await oldFiles(join(directory, 'staging', company), before)
      return names.flatMap(name => stagedOf(company, name) ?? [])
    },
    async *listKept(company) {
      const root = join(directory, 'blobs', company)
      for (const folder of await namesIn(root)) {
        for (const name of await readdir(join(root, folder))) {
          if (/^[0-9a-f]{64}$/.test(name)) yield Buffer.from(name, 'hex')
        }
      }
    },
    async changedKept(company, tag) {
      // a rename updates ctime and not mtime
      return (await find(kept(company, tag)))?.ctime
    }
  }
}

// throws for an invalid id, because the name becomes part of a path
function nameOf({ id, generation }: StagedFileId): string {
  if (!/^[A-Za-z0-9_-]{22}$/.test(id)) throw new Error('an upload id has 22 characters')
  return generation === 0 ? id : `${id}.${generation}`
}

function stagedOf(company_id: CompanyId, name: string): StagedFileId | undefined {
  const [, id, generation = '0'] = /^([A-Za-z0-9_-]{22})(?:\.([1-9]\d{0,8}))?$/.exec(name) ?? []
  return id === undefined ? undefined : { company_id, id, generation: Number(generation) }
}

async function oldFiles(folder: string, before: Date): Promise<string[]> {
  const found: string[] = []
  for (const name of await namesIn(folder)) {
    const file = await find(join(folder, name))
    // a rename updates ctime and not mtime
    if (file?.isFile() && file.ctime < before) found.push(name)
  }
  return found
}

function find(path: string): Promise<Stats | undefined> {
  return stat(path).catch(ignoreMissingFile)
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(ignoreMissingFile)) ?? []
}

async function digest(path: string): Promise<FileDigest | undefined> {
  const hash = createHash('sha256')
  let size = 0
  try {
    await using file = await open(path, 'r')
    const { ino } = await file.stat()
    for await (const chunk of file.createReadStream({ highWaterMark: 1024 * 1024 })) {
      hash.update(chunk)
      size += chunk.length
    }
    return { sha256: hash.digest(), size, inode: ino }
  } catch (error) {
    return ignoreMissingFile(error)
  }
}
