import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes an empty folder that is deleted when the running test ends. Returns its path. */
export async function makeTemporaryFolder(parent = tmpdir()): Promise<string> {
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'vidimus-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
