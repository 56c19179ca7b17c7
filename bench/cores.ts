import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The first core runs the server and its database, the second this process, the client. */
const serverCore = '0'
const clientCore = '1'
const everyCore = `0-${availableParallelism() - 1}`

/** Whether server and client can have a core each. */
export const canPin = availableParallelism() > 1 && pinTo(everyCore)

/** Runs work with this process on the client's core. */
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

/** Starts a process and its children on the server's core. `start` must spawn synchronously. */
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

/** Moves all threads of this process to a core. Later threads and children inherit it. */
function pinTo(cores: string): boolean {
  return spawnSync('taskset', ['-acp', cores, String(process.pid)]).status === 0
}
