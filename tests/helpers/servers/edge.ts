import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../service.ts'
import { isOpen } from './nginx.ts'

const root = join(import.meta.dirname, '../../..')

/** Prepares `npm run start:edge` with these settings, on a port of its own by default. */
export async function makeEdgeProcess(settings: Record<string, string>) {
  const [ours, nodes] = [buildIdIn('edge/dist'), buildIdIn('dist')]
  if (ours !== nodes) {
    throw new Error(`the edge has build ${ours}, and Node ${nodes}: run npm run build:edge`)
  }
  const port = Number(settings['PORT'] ?? (await freePort()))
  let running: { child: ChildProcess; ended: Promise<unknown> } | undefined
  let said = ''

  async function start(): Promise<void> {
    const child = spawn(process.execPath, ['edge/start.mjs'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', PORT: String(port), ...settings }
    })
    for (const output of [child.stdout, child.stderr]) {
      output.on('data', text => {
        said += text
      })
    }
    process.once('exit', () => child.kill('SIGTERM'))
    running = { child, ended: new Promise(resolve => child.once('exit', resolve)) }
    while (!(await isOpen(port))) {
      if (child.exitCode !== null) throw new Error(`the edge ended while starting: ${said}`)
    }
  }

  async function stop(): Promise<void> {
    running?.child.kill('SIGTERM')
    await running?.ended
    running = undefined
  }

  return { port, start, stop, log: () => said, [Symbol.asyncDispose]: stop }
}

function buildIdIn(folder: string): string | undefined {
  try {
    return JSON.parse(readFileSync(join(root, folder, 'build.json'), 'utf8')).id
  } catch {
    return undefined
  }
}
