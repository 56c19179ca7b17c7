import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresOptions, startPostgres } from './postgres.ts'

/** More losses than this within a minute are no accidents. */
const maxLosses = 10
const pauseMillis = 100

/**
 * The server on `dir`, started again whenever it is lost: it may be killed for want of memory, and
 * nobody else watches it. Of several processes one starts it and the others adopt it. `onGivenUp` is
 * told when that fails, so that whoever supervises this process can try from the beginning.
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
      // twice, because a start may just be under way
      await current.stop()
      await watching
      await current.stop()
    }
  }
}
