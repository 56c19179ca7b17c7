import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/**
 * The processor core on which the service and its database run. The benchmark's own process, which
 * is the client, runs on `clientCore`.
 */
const serverCore = '0'
const clientCore = '1'
const everyCore = `0-${availableParallelism() - 1}`

/** Whether the service and the client can each be bound to a core of their own. */
export const canPinToCores = availableParallelism() > 1 && pinTo(everyCore)

/**
 * Returns a function that binds this process to the client's core, runs `work` and removes the
 * binding.
 */
export function onClientCore<Given, T>(
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

/**
 * Calls `start` while this process is bound to the server's core, and returns its result. `start`
 * must spawn a child process synchronously. The child inherits the binding and stays on that core.
 */
export function onServerCore<T>(start: () => T): T {
  pin(serverCore)
  try {
    return start()
  } finally {
    pin(clientCore)
  }
}

function pin(cores: string): void {
  if (canPinToCores && !pinTo(cores))
    throw new Error(`this process cannot be moved to core ${cores}`)
}

/**
 * Binds all threads of this process to `cores`. Returns whether that worked. Later threads and
 * children inherit the binding.
 */
function pinTo(cores: string): boolean {
  return spawnSync('taskset', ['-acp', cores, String(process.pid)]).status === 0
}
