// Starts the built product on an empty DATA_DIR for the browser tests.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const folder = process.env.DATA_DIR
if (!folder)
  throw new Error('Set DATA_DIR to a folder that may be deleted: this script creates it anew')

await stopDatabase()
rmSync(folder, { recursive: true, force: true })
await import('../src/server/main.ts')

/**
 * Stops the database that an earlier, killed test run has left running, and waits until it has
 * ended. Otherwise, this old database would later delete the socket of the new one.
 */
async function stopDatabase() {
  const pid = livePostgres()
  if (!pid) return
  process.kill(pid, 'SIGQUIT')
  while (livePostgres() === pid) await setTimeout(50)
}

function livePostgres() {
  try {
    const pid = Number(readFileSync(join(folder, 'pg', 'postmaster.pid'), 'utf8').split('\n', 1)[0])
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres') ? pid : undefined
  } catch {
    return undefined
  }
}
