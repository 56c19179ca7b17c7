import { readFile, writeFile } from 'node:fs/promises'
import { constants, getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const { PRIORITY_LOW } = constants.priority

/**
 * The nice value becomes that of this process plus `nicenessIncrease`. Does nothing where the
 * system does not allow it.
 */
export async function lowerPriority(pid: number, nicenessIncrease: number): Promise<void> {
  try {
    setPriority(pid, Math.min(getPriority() + nicenessIncrease, PRIORITY_LOW))
  } catch {
    // whoever needs the process notices that it has ended
  }
  await lowerSession(pid, nicenessIncrease)
}

const maxTries = 50
const retryMillis = 100

// Most Linux systems first divide processor time between sessions (`sched_autogroup_enabled`), and
// each PostgreSQL process begins a session of its own. A nice value only counts within a session.
async function lowerSession(pid: number, nicenessIncrease: number): Promise<void> {
  const [own, its] = await Promise.all([sessionOf('self'), sessionOf(pid)])
  if (!own || !its || its.name === undefined || own.name === its.name) return
  const nice = Math.min(own.nice + nicenessIncrease, PRIORITY_LOW)
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

// undefined if the process has ended or the system has no autogroups
async function sessionOf(
  pid: number | 'self'
): Promise<{ name: string | undefined; nice: number } | undefined> {
  const text = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const [, name, nice] = /^(\S+) nice (-?\d+)/.exec(text) ?? []
  return { name, nice: Number(nice ?? 0) }
}
