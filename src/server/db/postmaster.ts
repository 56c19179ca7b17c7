import { execFile } from 'node:child_process'
import { link, readFile, readlink, realpath, rename, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ignoreMissingFile } from './missing-files.ts'

/** `absent`: there is no `postmaster.pid`. `empty`: the file contains no process id. */
export type PostmasterState =
  | { status: 'absent' | 'empty' }
  /**
   * `foreign`: the id belongs to another program now. `zombie`: the parent process has not noticed
   * the end.
   */
  | { status: 'dead' | 'zombie' | 'foreign'; pid: number }
  | { status: 'starting' | 'ready' | 'stopping'; pid: number; socketDir: string }

export async function readPostmasterState(dir: string): Promise<PostmasterState> {
  const text = await readFile(join(dir, 'postmaster.pid'), 'utf8').catch(ignoreMissingFile)
  if (text === undefined) return { status: 'absent' }
  const lines = text.split('\n')
  const pid = Math.abs(Number(lines[0]))
  if (!Number.isInteger(pid) || pid < 1) return { status: 'empty' }
  if (!isProcessAlive(pid)) return { status: 'dead', pid }
  const kind = await kindOfProcess(pid, dir)
  if (kind !== 'postmaster') return { status: kind, pid }
  const word = lines[7]?.trim()
  const status = word === 'ready' || word === 'stopping' ? word : 'starting'
  return { status, pid, socketDir: lines[4] ?? '' }
}

/**
 * PostgreSQL would refuse to start with the file. Does nothing if the state has changed since
 * `found` was read.
 */
export async function removeStalePidFile(dir: string, found: PostmasterState) {
  const file = join(dir, 'postmaster.pid')
  // an empty file may be about to be written; a zombie process may be about to disappear
  const patienceMillis = found.status === 'empty' ? 300 : found.status === 'zombie' ? 2000 : 0
  const until = Date.now() + patienceMillis
  while (Date.now() < until) {
    await sleep(20)
    if ((await readPostmasterState(dir)).status !== found.status) return
  }
  const before = await readFile(file, 'utf8').catch(ignoreMissingFile)
  if ((await readPostmasterState(dir)).status !== found.status || before === undefined) return
  // the file is moved before it is compared, so that a server that is just starting gets its file
  // back
  const aside = `${file}.stale-${process.pid}`
  await rename(file, aside).catch(ignoreMissingFile)
  const moved = await readFile(aside, 'utf8').catch(ignoreMissingFile)
  if (moved !== undefined && moved !== before) await link(aside, file).catch(() => undefined)
  await unlink(aside).catch(ignoreMissingFile)
}

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

async function kindOfProcess(pid: number, dir: string) {
  const { state, argv } = await lookAt(pid)
  if (state === undefined) return 'dead'
  if (state === 'Z') return 'zombie'
  // child processes of the server rename themselves to 'postgres: …'
  if (basename(argv[0] ?? '') !== 'postgres') return 'foreign'
  return (await servesDirectory(pid, argv, dir)) ? 'postmaster' : 'foreign'
}

async function servesDirectory(pid: number, argv: string[], dir: string): Promise<boolean> {
  // The working directory of the server is the data directory, even after a rename. In a container
  // root may be unable to read it; then the command line decides.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  if (cwd) return cwd === dir
  const named = argv[argv.indexOf('-D') + 1] ?? ''
  const real = await realpath(named).catch(() => undefined)
  // the named directory no longer exists: it may be ours under an old name, so it does not count as
  // foreign
  return real === undefined || real === dir
}

async function lookAt(pid: number): Promise<{ state?: string; argv: string[] }> {
  try {
    if (process.platform === 'linux') {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
      const argv = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
      return { state: stat.charAt(stat.lastIndexOf(')') + 2), argv }
    }
    const args = ['-ww', '-o', 'state=', '-o', 'command=', '-p', String(pid)]
    const [state = '', ...argv] = (await promisify(execFile)('ps', args)).stdout.trim().split(/\s+/)
    return { state: state.charAt(0), argv }
  } catch {
    return { argv: [] }
  }
}
