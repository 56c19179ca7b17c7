import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeServiceProcess } from '../tests/helpers/service.ts'
import { onServerCore } from './cores.ts'

/** In an empty folder, on the server's core, with limits that no benchmark reaches. */
export async function startService(settings: Record<string, string> = {}) {
  const plenty = '1000000000'
  const service = await makeServiceProcess({
    DEMO: 'false',
    LIMIT_SIGN_IN_PER_ADDRESS_MINUTE: plenty,
    LIMIT_PUBLIC_PER_ADDRESS_MINUTE: plenty,
    LIMIT_VERIFY_PER_ADDRESS_MINUTE: plenty,
    LIMIT_VERIFY_PER_ADDRESS_DAY: plenty,
    LIMIT_VERIFY_PER_COMPANY_DAY: plenty,
    LIMIT_VERIFY_PER_USER_MINUTE: plenty,
    LIMIT_STREAMS_PER_COMPANY: plenty,
    LIMIT_STREAMS_PER_PROCESS: plenty,
    LIMIT_CONNECTIONS_PER_PROCESS: plenty,
    LIMIT_CONNECTIONS_PER_ADDRESS: plenty,
    // with `BENCH_NODE_OPTIONS='--cpu-prof --cpu-prof-dir=.cache/profile'` Node writes a profile of
    // where the time goes
    NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS ?? '',
    ...settings
  })
  await onServerCore(() => service.start())
  return {
    ...service,
    /** In the normal way, so that Node can write a profile. */
    async [Symbol.asyncDispose]() {
      await service.stop()
      await service[Symbol.asyncDispose]()
    }
  }
}

export type Service = Awaited<ReturnType<typeof startService>>

export interface ChildProgram extends AsyncDisposable {
  pid: number
  request<Reply>(question: object): Promise<Reply>
}

/** In a process on the server's core. It ends when the benchmark ends. */
export function startPeerProcess(kind: string, setup: object): Promise<ChildProgram> {
  return onServerCore(() => startClientProcess(kind, setup))
}

/** On the core of the benchmark, as a client of the service. */
export async function startClientProcess(kind: string, setup: object): Promise<ChildProgram> {
  const child = fork(join(import.meta.dirname, 'peers/main.ts'), [kind], {
    serialization: 'advanced'
  })
  // Ctrl-C ends this process as well; when it has ended, calls that wait for it fail
  const kill = () => child.kill('SIGKILL')
  process.once('SIGTERM', kill)
  const peer: ChildProgram = {
    pid: child.pid ?? 0,
    request: question => request(child, question),
    async [Symbol.asyncDispose]() {
      process.off('SIGTERM', kill)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      kill()
      await ended
    }
  }
  try {
    await peer.request(setup)
  } catch (error) {
    await peer[Symbol.asyncDispose]()
    throw error
  }
  return peer
}

async function request<Reply>(child: ChildProcess, question: object): Promise<Reply> {
  const ended = new AbortController()
  child.send(question)
  const reply = await Promise.race([
    once(child, 'message', { signal: ended.signal }),
    once(child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error('the peer ended')
    })
  ]).finally(() => ended.abort())
  const [{ result, error }] = reply
  if (error !== undefined) throw new Error(error)
  return result
}

/** Of a process and the service's database. */
export function processorSecondsOf(pid: number | undefined, service: Service): number {
  const [, ...database] = databaseProcesses(service)
  return [pid, ...database].reduce<number>((sum, each) => sum + cpuOf(each), 0)
}

/** The database server and its current child processes. */
export function databaseProcesses({ dataDir }: Pick<Service, 'dataDir'>): number[] {
  const file = readFileSync(join(dataDir, 'pg/postmaster.pid'), 'utf8')
  const postmaster = Number(file.split('\n', 1)[0])
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
  return [postmaster, ...children.split(' ').filter(Boolean).map(Number)]
}

export function cpuOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // the second field is a process name with any characters, and it ends at the last bracket
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** In MB. */
export function memoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1000
}
