import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A system call of a watched process, such as `fsync(27</data/a>) = 0`. */
export interface Call {
  name: string
  text: string
  /** Places in the order of everything that was seen; equal where nothing came in between. */
  begun: number
  ended: number
  /** The answer was made up. */
  injected: boolean
}

export type Watch = Awaited<ReturnType<typeof watch>>

/** Why no system call can be watched on this machine; nothing where it can. */
export function whyNotWatched(): string | undefined {
  const tried = spawnSync('strace', ['-qq', '-o', '/dev/null', '-e', 'trace=none', 'true'])
  if (tried.error) return 'strace is not installed (Debian: apt-get install strace)'
  if (tried.status !== 0) return 'strace may not attach to processes (it needs CAP_SYS_PTRACE)'
  return undefined
}

/** Watches processes and all their threads, with more options of strace, until `end()`. */
export async function watch(pids: number[], options: string[]) {
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
    /** Whether a call has been made to fail. */
    hasInjected: () => saw().some(call => call.injected),
    /** Lets the processes go on alone; answers what they did, in the order of its end. */
    async end(): Promise<Call[]> {
      child.kill('SIGINT')
      await ended
      const calls = saw()
      rmSync(folder, { recursive: true, force: true })
      return calls
    }
  }
}

/** strace says of each process that it has it. */
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

/** A call that others came in between of is told in two lines. */
function callsIn(text: string): Call[] {
  const open = new Map<string, { text: string; begun: number }>()
  const calls: Call[] = []
  for (const [at, line] of text.split('\n').entries()) {
    const [, thread = '', said = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    if (said.endsWith(' <unfinished ...>')) {
      open.set(thread, { text: said.slice(0, -' <unfinished ...>'.length), begun: at })
      continue
    }
    const [resumed] = /^<\.\.\. \w+ resumed>/.exec(said) ?? ['']
    const first = resumed ? open.get(thread) : { text: '', begun: at }
    if (!first) continue // it began before we came
    const whole = first.text + said.slice(resumed.length)
    const [, name] = /^(\w+)\(/.exec(whole) ?? []
    if (!name) continue
    const injected = whole.endsWith('(INJECTED)')
    calls.push({ name, text: whole, begun: first.begun, ended: at, injected })
  }
  return calls
}
