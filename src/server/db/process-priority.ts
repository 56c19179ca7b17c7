import { readFile, writeFile } from 'node:fs/promises'
import { constants, getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const { PRIORITY_LOW } = constants.priority

/**
 * Lowers the priority of another process: its nice value becomes the one of this process plus
 * `steps`. Does nothing if the process has ended, belongs to somebody else, or if the system has no
 * priorities.
 */
export async function lowerPriority(pid: number, steps: number): Promise<void> {
  try {
    setPriority(pid, Math.min(getPriority() + steps, PRIORITY_LOW))
  } catch {
    // whoever needs the process notices that it has ended
  }
  await lowerSession(pid, steps)
}

const maxTries = 50
const retryMillis = 100

/**
 * Lowers the priority of the session of a process. Most Linux systems first divide the processor
 * between sessions (`sched_autogroup_enabled`), so that the nice values of processes only count
 * within a session. Every process of PostgreSQL begins a session.
 */
async function lowerSession(pid: number, steps: number): Promise<void> {
  const [own, its] = await Promise.all([sessionOf('self'), sessionOf(pid)])
  if (!own || !its || its.name === undefined || own.name === its.name) return
  const nice = Math.min(own.nice + steps, PRIORITY_LOW)
  for (let tries = 0; tries < maxTries; tries++) {
    try {
      return await writeFile(`/proc/${pid}/autogroup`, String(nice))
    } catch (error) {
      // the system allows ten changes a second to all users together
      if (Object(error).code !== 'EAGAIN') return
      await sleep(retryMillis * (1 + Math.random()), undefined, { ref: false })
    }
  }
}

/**
 * Returns the nice value of the session of a process and the session's name, which is undefined
 * where the process still is in the session of the system's first process: its file is empty.
 * Returns undefined if the process has ended or the system does not divide by sessions.
 */
async function sessionOf(
  pid: number | 'self'
): Promise<{ name: string | undefined; nice: number } | undefined> {
  const text = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const [, name, nice] = /^(\S+) nice (-?\d+)/.exec(text) ?? []
  return { name, nice: Number(nice ?? 0) }
}
