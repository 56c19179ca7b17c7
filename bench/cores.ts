import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The first core runs what is measured, with its database; the second runs this process, its client. */
const serverCore = '0'
const clientCore = '1'
const everyCore = `0-${availableParallelism() - 1}`

/** Whether each side can have a core of its own here. */
export const canPin = availableParallelism() > 1 && pinTo(everyCore)

/** The same work, with this process on the client's core. */
export function asClient<Given, T>(
  work: (given: Given) => Promise<T>
): (given: Given) => Promise<T> {
  return async given => {
    pin(clientCore)
    try {
      return await work(given)
    } finally {
      pin(everyCore)
    }
  }
}

/** Starts a process on the server's core, and with it whatever that one starts: `start` spawns at once. */
export function onServerCore<T>(start: () => T): T {
  pin(serverCore)
  try {
    return start()
  } finally {
    pin(clientCore)
  }
}

function pin(cores: string): void {
  if (canPin && !pinTo(cores)) throw new Error(`this process cannot be moved to core ${cores}`)
}

/** All threads of this process; those it starts later, and its children, inherit it. */
function pinTo(cores: string): boolean {
  return spawnSync('taskset', ['-acp', cores, String(process.pid)]).status === 0
}
