import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isProcessAlive } from '../../src/server/db/postmaster.ts'

const memory = '/dev/shm'
const prefix = 'vidimus-tests-'
const neededBytes = 2_000_000_000

/**
 * Makes the folder for everything that the tests of one run write, and deletes the folders of runs
 * that were killed. The folder is in main memory if there are two gigabytes free, because creating
 * a database of 500 files takes twenty times as long on a disk. Returns the path.
 */
export function makeScratchFolder(): string {
  const parent = hasRoom(memory) ? memory : tmpdir()
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix) && !isProcessAlive(Number(name.slice(prefix.length)))) {
      removeOwn(join(parent, name))
    }
  }
  const folder = join(parent, `${prefix}${process.pid}`)
  mkdirSync(folder)
  chmodSync(folder, 0o711) // as root, the database runs as another user
  return folder
}

function removeOwn(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // another user's
  }
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > neededBytes
  } catch {
    return false
  }
}
