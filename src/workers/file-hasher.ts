import { AppError } from '../contract/kit/errors.ts'
import type { FileHashResult } from './hash.ts'
import { logAndReturnError, type WorkerTaskOptions } from './pool.ts'

// larger files are sent alone
const groupedBytes = 1024 * 1024
const groupFiles = 16

interface WaitingFile {
  file: Blob
  resolve: (digest: string) => void
  reject: (error: unknown) => void
}

/**
 * Small files are sent in groups of up to 16, because a message takes longer than hashing one.
 * While `maxGroups` groups are being hashed, the others wait.
 */
export function createFileHasher(
  ask: (files: readonly Blob[], options?: WorkerTaskOptions) => Promise<readonly FileHashResult[]>,
  maxGroups: number
): (file: Blob, options?: WorkerTaskOptions) => Promise<string> {
  const waiting = new Set<WaitingFile>()
  let groups = 0

  function hashWithOthers(file: Blob, signal: AbortSignal | undefined): Promise<string> {
    return new Promise((resolve, reject) => {
      const one = { file, resolve, reject }
      // a group under way goes on, because its other files need it
      const giveUp = () => {
        waiting.delete(one)
        reject(new Error('terminated'))
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      if (signal?.aborted) return giveUp()
      waiting.add(one)
      startGroups()
    })
  }

  function startGroups(): void {
    while (groups < maxGroups && waiting.size > 0) {
      const group = [...waiting].slice(0, groupFiles)
      for (const one of group) waiting.delete(one)
      groups += 1
      void hashGroup(group).finally(() => {
        groups -= 1
        startGroups()
      })
    }
  }

  async function hashGroup(group: readonly WaitingFile[]): Promise<void> {
    try {
      const hashed = await ask(group.map(({ file }) => file))
      for (const [at, { resolve, reject }] of group.entries()) {
        const one = hashed[at]
        if (one && 'digest' in one) resolve(one.digest)
        else reject(logAndReturnError(new AppError('file_unreadable', one?.detail ?? 'No answer')))
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  return async (file, options = {}) => {
    if (file.size <= groupedBytes) return hashWithOthers(file, options.signal)
    const [one] = await ask([file], options)
    if (one && 'digest' in one) return one.digest
    throw logAndReturnError(new AppError('file_unreadable', one?.detail ?? 'No answer'))
  }
}
