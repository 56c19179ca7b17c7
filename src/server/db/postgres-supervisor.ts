import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresOptions, startPostgres } from './postgres.ts'

/** After more losses within a minute the supervisor gives up. */
const maxLosses = 10
const pauseMillis = 100

/**
 * Runs the server on `dir` and restarts it whenever it is lost, for example killed for lack of memory.
 * Of several processes one starts it and the others adopt it. Calls `onGivenUp` when a restart fails, so
 * that the supervisor of this process can start over.
 */
export async function supervisePostgres(
  options: PostgresOptions & { onGivenUp: (error: Error) => void }
): Promise<{ socketDir: string } & AsyncDisposable> {
  const { dir, log = () => undefined, onGivenUp } = options
  let current = await startPostgres(options)
  let isStopping = false
  let losses: number[] = []

  async function watch(): Promise<void> {
    for (;;) {
      await current.lost
      if (isStopping) return
      losses = [...losses.filter(at => Date.now() - at < 60_000), Date.now()]
      if (losses.length > maxLosses) throw new Error(`PostgreSQL on ${dir} ends again and again.`)
      log(`PostgreSQL on ${dir} is lost: starting it again`)
      await sleep(pauseMillis)
      current = await startPostgres(options)
    }
  }
  const watching = watch().catch(error => {
    if (!isStopping) onGivenUp(error)
  })

  return {
    socketDir: current.socketDir,
    async [Symbol.asyncDispose]() {
      isStopping = true
      // twice, because a start may be running
      await current.stop()
      await watching
      await current.stop()
    }
  }
}
