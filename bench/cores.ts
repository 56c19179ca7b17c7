import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

// for the service and its database; the benchmark's own process, which is the client, runs on
// `clientCore`
const serverCore = '0'
const clientCore = '1'
const everyCore = `0-${availableParallelism() - 1}`

export const canPinToCores = availableParallelism() > 1 && pinTo(everyCore)

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
 * `start` must spawn a child process synchronously, which inherits the binding and stays on that
 * core.
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

// all threads of this process; later threads and children inherit the binding
function pinTo(cores: string): boolean {
  return spawnSync('taskset', ['-acp', cores, String(process.pid)]).status === 0
}
