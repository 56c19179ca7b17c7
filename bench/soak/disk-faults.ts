import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/server/adapters/log.ts'
import { readConfig } from '../../src/server/config.ts'
import { listCompanyIds } from '../../src/server/domain/companies/companies.ts'
import { checkFilesAndDeleteOrphans } from '../../src/server/domain/deposits/file-checks.ts'
import { openDeps } from '../../src/server/open-deps.ts'
import type { ServiceProcess } from '../../tests/helpers/service.ts'
import { databaseProcesses } from '../processes.ts'
import { checkConsistency, checkStoredBytes } from './consistency.ts'
import type { RememberedDocument } from './depositors.ts'
import { type Trace, traceSystemCalls } from './strace.ts'

/** With one thread for files, the order of the system calls is always the same. */
export const singleThreadSettings = { DEMO: 'false', UV_THREADPOOL_SIZE: '1' }

// the system call may run in a thread that strace does not trace yet
const maxTries = 3

export interface DiskFault {
  title: string
  /** `when` is the number of the call that fails: 1 for the first call of this name. */
  call: string
  when: number
  error: 'EIO' | 'ENOSPC' | 'EMFILE'
  /** Undefined if calls fail everywhere. */
  path?: 'staged file' | 'staging folder' | 'write-ahead log'
}

export function diskFault(
  title: string,
  call: string,
  when: number,
  error: DiskFault['error'],
  path?: DiskFault['path']
): DiskFault {
  return { title, call, when, error, ...(path && { path }) }
}

interface FaultOptions<OneFault extends DiskFault, Sent> {
  rounds?: number | undefined
  faults: readonly OneFault[]
  /**
   * `injected`: whether the system call failed. `settled` resolves when the document is recorded or
   * refused. `told` is the response to the sender.
   */
  send: (
    fault?: OneFault
  ) => Promise<{ injected: boolean | undefined; settled: Promise<Sent>; told?: unknown }>
  onFault?: ((text: string) => void) | undefined
}

/**
 * Sends up to `maxTries` documents for each fault. Returns a sentence for each fault that never
 * occurred.
 */
export async function sendUnderFaults<OneFault extends DiskFault, Sent>({
  rounds = 1,
  faults,
  send,
  onFault = () => undefined
}: FaultOptions<OneFault, Sent>): Promise<{ sent: Sent[]; missed: string[] }> {
  // without a fault, because the first upload also creates folders, whose calls would be counted
  const sent = [(await send()).settled]
  const missed: string[] = []
  for (let round = 0; round < rounds; round++) {
    for (const fault of faults) {
      let last: Awaited<ReturnType<typeof send>> | undefined
      for (let tries = 0; !last?.injected && tries < maxTries; tries++) {
        last = await send(fault)
        sent.push(last.settled)
      }
      if (!last?.injected) missed.push(`the call was never made: ${fault.title}`)
      onFault(`${fault.title} (${fault.error}): ${last?.told ?? ''}`)
    }
  }
  return { sent: await Promise.all(sent), missed }
}

export async function checkAndStop(service: ServiceProcess, remembered: RememberedDocument[]) {
  const { figures, faults } = await checkConsistency(service, remembered)
  faults.push(...(await checkStoredBytes(service, remembered)))
  const exit = await service.stop()
  if (exit !== 0) faults.push(`the stop ended with ${exit}`)
  const { acknowledged = [], failed = [] } = Object.groupBy(remembered, each => each.end)
  return { acknowledged: acknowledged.length, failed: failed.length, figures, faults }
}

/** A file that belongs to no document after the deletion counts as a fault. */
export async function checkFilesAndStop(service: ServiceProcess, remembered: RememberedDocument[]) {
  const lost = await deleteUnreferencedFiles(service)
  const { faults, ...counts } = await checkAndStop(service, remembered)
  const { orphans } = counts.figures
  if (orphans) lost.push(`${orphans} files belong to nothing`)
  return { ...counts, faults: [...lost, ...faults] }
}

/** Other faults than those of a staged file do not use `upload`. */
export async function injectFault(
  service: ServiceProcess,
  fault: DiskFault,
  upload: string
): Promise<Trace> {
  const staging = join(service.documents, 'staging')
  const [company = ''] = readdirSync(staging)
  const wal = join(service.dataDir, 'pg/pg_wal')
  const paths = {
    'staged file': [join(staging, company, upload)],
    'staging folder': [join(staging, company)],
    'write-ahead log': readdirSync(wal).map(name => join(wal, name))
  }
  const only = fault.path ? paths[fault.path].flatMap(path => ['-P', path]) : []
  const pids = fault.path === 'write-ahead log' ? databaseProcesses(service) : [service.pid()]
  return traceSystemCalls(pids, [
    ...only,
    ...['-e', `trace=${fault.call}`],
    ...['-e', `inject=${fault.call}:error=${fault.error}:when=${fault.when}`]
  ])
}

/** the fault may occur after the response, while the service records the deposit */
export async function waitForFault(tracing: Trace): Promise<boolean> {
  for (const until = Date.now() + 10_000; Date.now() < until; await sleep(20)) {
    if (tracing.hasInjected()) return true
  }
  return false
}

/**
 * With a clock that is two days ahead, so that the job deletes files without a row in the database.
 */
export async function deleteUnreferencedFiles(service: ServiceProcess): Promise<string[]> {
  const faults: string[] = []
  const config = readConfig({ DATA_DIR: service.dataDir, LOG_LEVEL: 'error' })
  const stopping = new AbortController()
  await using opened = await openDeps(config, createLog('error'), stopping.signal, () => undefined)
  const deps = { ...opened.deps, clock: () => new Date(Date.now() + 2 * 86_400_000) }
  for (const company of await listCompanyIds(deps)) {
    const { missing, damaged } = await checkFilesAndDeleteOrphans(deps, company, 1)
    if (missing.length + damaged.length > 0) faults.push('documents are lost or damaged')
  }
  stopping.abort()
  return faults
}
