import { browserEnvironment } from './environment.ts'
import { personalAtom } from './personal-atoms.ts'
import { addSessionStartListener, signedInUserId, verifiedFileNamesStorageKey } from './sessions.ts'

type Names = readonly string[]

/**
 * By the id of the request in the history. The names are never sent, and signing out deletes them.
 */
export const $verifiedFileNamesByRequest = personalAtom<ReadonlyMap<string, Names>>(new Map())

// browsers store only a few megabytes
const maxNames = 5000

addSessionStartListener(() => $verifiedFileNamesByRequest.set(readNames()))

/** `requestId` is the id of the call's history entry. */
export function rememberFileNames(requestId: string, names: Names): void {
  const person = signedInUserId()
  if (person === undefined || names.length === 0) return
  // reads the stored names again, because other tabs write them, too
  const kept = [...readNames(), [requestId, names] as const]
  let count = kept.reduce((sum, [, each]) => sum + each.length, 0)
  while (count > maxNames && kept.length > 1) count -= kept.shift()?.[1].length ?? 0
  browserEnvironment().store(verifiedFileNamesStorageKey, `${person}\n${JSON.stringify(kept)}`)
  $verifiedFileNamesByRequest.set(new Map(kept))
}

function readNames(): ReadonlyMap<string, Names> {
  const person = signedInUserId()
  const text = browserEnvironment().readStored(verifiedFileNamesStorageKey)
  if (person === undefined || !text?.startsWith(`${person}\n`)) return new Map()
  try {
    const read: unknown = JSON.parse(text.slice(person.length + 1))
    return new Map(Array.isArray(read) ? read.filter(isEntry) : [])
  } catch {
    return new Map()
  }
}

function isEntry(value: unknown): value is [string, string[]] {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [request, names] = value
  return typeof request === 'string' && Array.isArray(names) && names.every(isText)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
