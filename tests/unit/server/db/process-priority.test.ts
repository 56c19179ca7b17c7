import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { expect, test } from 'vitest'
import { lowerPriority } from '../../../../src/server/db/process-priority.ts'

test('lowers the priority of a process and of the session that it begins', async () => {
  // a session of its own, as a process of PostgreSQL has
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  try {
    await once(child, 'spawn')
    const { pid } = child
    if (pid === undefined) throw new Error('no process')
    await lowerPriority(pid, 5)
    expect(getPriority(pid)).toBe(Math.min(getPriority() + 5, 19))
    if (existsSync('/proc/self/autogroup')) {
      expect(niceOf(pid)).toBe(Math.min(niceOf('self') + 5, 19))
    }
  } finally {
    child.kill()
  }
})

test('leaves the session of this process as it is, and ignores a process that has ended', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const ended = once(child, 'exit')
  const before = existsSync('/proc/self/autogroup') && niceOf('self')
  const { pid } = child
  // 0 would stand for the process of the tests
  if (pid === undefined) throw new Error('no process')
  await lowerPriority(pid, 5)
  expect(existsSync('/proc/self/autogroup') && niceOf('self')).toBe(before)
  child.kill()
  await ended
  await lowerPriority(pid, 5)
})

/**
 * Returns the nice value of the session to which a process belongs. Returns 0 if the system states
 * none, as for the first process.
 */
function niceOf(pid: number | 'self'): number {
  return Number(readFileSync(`/proc/${pid}/autogroup`, 'utf8').split(' nice ')[1] ?? 0)
}
