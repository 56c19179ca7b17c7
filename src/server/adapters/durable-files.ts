import { randomBytes } from 'node:crypto'
import { mkdir, open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a file or replaces it. Readers get its old bytes or its new ones, also after a loss of
 * power.
 */
export async function replaceFile(path: string, bytes: string | Uint8Array): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await syncPath(dirname(path))
}

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
