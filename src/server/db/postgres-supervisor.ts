import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresStartOptions, startPostgres } from './postgres.ts'

const maxLosses = 10
const pauseMillis = 100

/**
 * If several processes do this for one directory, one starts PostgreSQL and the others use it.
 * Calls `onGivenUp` when a restart fails or PostgreSQL stops too often.
 */
export async function supervisePostgres(
  options: PostgresStartOptions & { onGivenUp: (error: Error) => void }
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
      if (losses.length > maxLosses) {
        throw new Error(
          `PostgreSQL on ${dir} stopped more than ${maxLosses} times within a minute (its log is ${dir}.log).`
        )
      }
      log(
        `PostgreSQL on ${dir} stopped or closed the connection: starting it again (its log is ${dir}.log)`
      )
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
      // twice, because a restart may have been running
      await current.stop()
      await watching
      await current.stop()
    }
  }
}
