import { open } from 'node:fs/promises'
import { registerLimits } from '../../../contract/kit/limits.ts'
import { updateById } from '../../db/company-queries.ts'
import { inCompany, toCompanyId } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import {
  type AttemptDeps,
  attemptNext,
  changeLeased,
  Failure,
  type ImportInProgress,
  keepLease,
  Stopped
} from './register-attempts.ts'
import { openAddress } from './register-seals.ts'

type FetchDeps = AttemptDeps & Pick<Deps, 'companyKeys' | 'foreignFiles' | 'signals'>

const renewalMs = 1_000

/**
 * Fetches the file that has waited longest for it, so that it can be read. Waits for servers that may
 * be slow, and so is apart from reading, which the imports of all companies share. After a crash,
 * another process fetches the file from its start.
 */
export async function fetchNextFile(
  deps: FetchDeps,
  company: CompanyId,
  { stopping, onFound }: { stopping: () => boolean; onFound: () => void }
): Promise<boolean> {
  const isDone = await attemptNext(deps, company, 'fetch', async work => {
    onFound()
    await fetchFile(deps, work, stopping)
  })
  return isDone ?? false
}

async function fetchFile(
  deps: FetchDeps,
  work: ImportInProgress,
  stopping: () => boolean
): Promise<void> {
  const company = toCompanyId(work.company_id)
  const id = work.upload_id ?? ''
  // an attempt that lost its lease may still write a file of its own
  const staged = { company_id: company, id, generation: work.generation }
  const address = await inCompany(deps.db, company, async tx => {
    await keepLease(tx, deps, work, { step: 'fetching', progress: 0 })
    await updateById(tx, 'upload', id).set({ generation: work.generation }).execute()
    if (!work.address) throw new Error('an import without an address is not fetched')
    return openAddress(await deps.companyKeys.read(tx), work, work.address)
  })
  for (let generation = 0; generation < work.generation; generation++) {
    await deps.blobs.discardStaged({ ...staged, generation })
  }
  await deps.blobs.prepareStaging(company)
  let isFetched = false
  try {
    const bytes = await receive(deps, work, {
      address,
      path: deps.blobs.stagingFile(staged),
      stopping
    })
    await deps.blobs.syncStaged(staged)
    await inCompany(deps.db, company, async tx => {
      const done = { address: null, bytes, step: null, progress: 0, attempts: 0 }
      await changeLeased(tx, work, { ...done, leased_until: null })
      await updateById(tx, 'upload', id).set({ size: bytes }).execute()
      tx.afterCommit(() => deps.signals.registers.send(company))
    })
    isFetched = true
  } finally {
    if (!isFetched) await deps.blobs.discardStaged(staged)
  }
}

interface Destination {
  address: string
  path: string
  stopping: () => boolean
}

async function receive(
  deps: FetchDeps,
  work: ImportInProgress,
  { address, path, stopping }: Destination
): Promise<number> {
  const ending = new AbortController()
  const company = toCompanyId(work.company_id)
  let [received, percent] = [0, 0]
  let renewal: Promise<void> | undefined
  const renew = async () => {
    try {
      if (stopping()) throw new Stopped()
      await inCompany(deps.db, company, tx => keepLease(tx, deps, work, { progress: percent }))
    } catch (error) {
      if (error instanceof Stopped) ending.abort(error)
      else deps.log.warn({ company, import: work.id, err: error }, 'a lease was not renewed')
    }
    renewal = undefined
  }
  const renewing = setInterval(() => {
    renewal ??= renew()
  }, renewalMs)
  try {
    await using file = await open(path, 'w', 0o600)
    const result = await deps.foreignFiles.fetch(address, {
      maxBytes: registerLimits.bytes,
      signal: ending.signal,
      async write(bytes, total) {
        await file.writeFile(bytes)
        received += bytes.length
        percent = total === undefined ? 0 : Math.floor((received / total) * 100)
      }
    })
    if ('failure' in result) throw new Failure(result.failure)
    return result.bytes
  } finally {
    clearInterval(renewing)
    // or it would lease the file again, after it has been given to be read
    await renewal
  }
}
