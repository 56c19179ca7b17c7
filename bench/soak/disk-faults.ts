import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/server/adapters/log.ts'
import { readConfig } from '../../src/server/config.ts'
import { listCompanies } from '../../src/server/domain/companies/companies.ts'
import { checkFiles } from '../../src/server/domain/deposits/file-checks.ts'
import { openDeps } from '../../src/server/open-deps.ts'
import type { ServiceProcess } from '../../tests/helpers/service.ts'
import { type Watch, watch } from './strace.ts'

/** Settings of a service whose calls are counted: one thread for files, so the n-th of a kind is always the same. */
export const countable = { DEMO: 'false', UV_THREADPOOL_SIZE: '1' }

const patienceMs = 60_000
/**
 * How many documents a fault is tried with until it happens: a thread that strace has not caught yet may
 * make the call. Documents under which nothing happened are held to the same promises.
 */
export const maxTries = 3

export interface Fault {
  /** What it stands for. */
  title: string
  /** The call that fails, and which of them: `when` as strace has it. */
  call: string
  when: number
  error: 'EIO' | 'ENOSPC' | 'EMFILE'
  /** Only calls on this path count; it is known once there is an upload. */
  path?: 'staged file' | 'staging folder' | 'write-ahead log'
}

/** Makes a call fail as `fault` says, of the upload with this id where there is one already. */
export async function watchFault(
  service: ServiceProcess,
  fault: Fault,
  upload: string
): Promise<Watch> {
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
  return watch(pids, [
    ...only,
    ...['-e', `trace=${fault.call}`],
    ...['-e', `inject=${fault.call}:error=${fault.error}:when=${fault.when}`]
  ])
}

/** Of a document that the service promised the call may still be to come. */
export async function isHit(watching: Watch): Promise<boolean> {
  for (const until = Date.now() + 10_000; Date.now() < until; await sleep(20)) {
    if (watching.hasInjected()) return true
  }
  return false
}

/** Tries until it succeeds, for a minute. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + patienceMs; ; await sleep(100)) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > until) throw error
    }
  }
}

/**
 * What the job does an hour after the day in which orphans may still be somebody's; answers what it
 * finds wrong.
 */
export async function removeOrphans(service: ServiceProcess): Promise<string[]> {
  const faults: string[] = []
  const config = readConfig({ DATA_DIR: service.dataDir, LOG_LEVEL: 'error' })
  const stopping = new AbortController()
  await using opened = await openDeps(config, createLog('error'), stopping.signal, () => undefined)
  const deps = { ...opened.deps, clock: () => new Date(Date.now() + 2 * 86_400_000) }
  for (const company of await listCompanies(deps)) {
    const { missing, damaged } = await checkFiles(deps, company, 1)
    if (missing.length + damaged.length > 0) faults.push('documents are lost or damaged')
  }
  stopping.abort()
  return faults
}

/** The server and its children at this moment. */
export function databaseProcesses({ dataDir }: ServiceProcess): number[] {
  const file = readFileSync(join(dataDir, 'pg/postmaster.pid'), 'utf8')
  const postmaster = Number(file.split('\n', 1)[0])
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
  return [postmaster, ...children.split(' ').filter(Boolean).map(Number)]
}
