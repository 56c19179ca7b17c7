import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a file or replaces it. Readers get its old bytes or its new ones, also after a loss of
 * power. `check` is called as late as possible, and keeps the old file if it throws.
 */
export async function replaceFile(
  path: string,
  bytes: string | Uint8Array,
  check: () => Promise<void> = async () => undefined
): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  const file = await open(draft, 'wx', 0o600)
  try {
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await check()
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true }) // on a full disk, each new attempt would leave one
    throw error
  }
  await syncPath(dirname(path))
}

/** Of a folder, flushes its list of files. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Also flushes the entries of missing parents below `root`, so that they survive a loss of power. */
export async function makeDurableFolder(folder: string, root: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let path = folder; path !== root && path !== dirname(path); path = dirname(path)) {
    await syncPath(dirname(path))
  }
}
