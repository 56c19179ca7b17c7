import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Such as `fsync(27</data/a>) = 0`. */
export interface SystemCall {
  name: string
  text: string
  /** The line in the output of strace on which the call begins. */
  begun: number
  /** The same as `begun` if no other call came in between. */
  ended: number
  /** Whether strace made the call fail instead of executing it. */
  injected: boolean
}

export type Trace = Awaited<ReturnType<typeof traceSystemCalls>>

export function whyStraceFails(): string | undefined {
  const tried = spawnSync('strace', ['-qq', '-o', '/dev/null', '-e', 'trace=none', 'true'])
  if (tried.error) return 'strace is not installed (Debian: apt-get install strace)'
  if (tried.status !== 0) return 'strace may not attach to processes (it needs CAP_SYS_PTRACE)'
  return undefined
}

export async function traceSystemCalls(pids: number[], options: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'vidimus-strace-'))
  const output = join(folder, 'calls')
  const all = pids.flatMap(pid => ['-p', String(pid)])
  const child = spawn('strace', ['-f', '-y', '-s', '4096', '-o', output, ...options, ...all], {
    stdio: ['ignore', 'ignore', 'pipe']
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  await attached(child, pids.length)
  const saw = () => callsIn(readFileSync(output, 'utf8'))
  return {
    hasInjected: () => saw().some(call => call.injected),
    /** Returns the calls in the order of their end. */
    async end(): Promise<SystemCall[]> {
      child.kill('SIGINT')
      await ended
      const calls = saw()
      rmSync(folder, { recursive: true, force: true })
      return calls
    }
  }
}

async function attached(child: ChildProcess, processes: number): Promise<void> {
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => reject(new Error(`strace ended: ${said}`)))
    child.stderr?.on('data', piece => {
      said += piece
      if ((said.match(/ attached/g)?.length ?? 0) >= processes) resolve()
    })
  })
}

// Strace shows a call on two lines if others ended meanwhile. The second is missing if strace
// stopped before, although the receiver of a message may have it by then.
function callsIn(text: string): SystemCall[] {
  const open = new Map<string, { text: string; begun: number }>()
  const calls: SystemCall[] = []
  const lines = text.split('\n')
  for (const [at, line] of lines.entries()) {
    const [, thread = '', said = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    if (said.endsWith(' <unfinished ...>')) {
      open.set(thread, { text: said.slice(0, -' <unfinished ...>'.length), begun: at })
      continue
    }
    const [resumed] = /^<\.\.\. \w+ resumed>/.exec(said) ?? ['']
    const first = resumed ? open.get(thread) : { text: '', begun: at }
    if (!first) continue // it began before strace was attached
    if (resumed) open.delete(thread)
    const whole = first.text + said.slice(resumed.length)
    const [, name] = /^(\w+)\(/.exec(whole) ?? []
    if (!name) continue
    const injected = whole.endsWith('(INJECTED)')
    calls.push({ name, text: whole, begun: first.begun, ended: at, injected })
  }
  for (const unfinished of open.values()) {
    const [, name = ''] = /^(\w+)\(/.exec(unfinished.text) ?? []
    calls.push({ ...unfinished, name, ended: lines.length, injected: false })
  }
  return calls
}
