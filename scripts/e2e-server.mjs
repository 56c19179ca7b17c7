// Starts the built product on an empty DATA_DIR for the browser tests, as one process or as E2E_STACK says.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const folder = process.env.DATA_DIR
if (!folder)
  throw new Error('Set DATA_DIR to a folder that may be deleted: this script creates it anew')

await stopDatabase()
rmSync(folder, { recursive: true, force: true })
if (process.env.E2E_STACK === 'edge') await startEdge()
await import('../src/server/main.ts')

/**
 * Starts nginx on the port of the tests, and behind it the edge runtime. This process becomes the
 * API of both.
 */
async function startEdge() {
  const { makeEdgeProcess } = await import('../tests/helpers/servers/edge.ts')
  const { startSiteNginx } = await import('../tests/helpers/servers/nginx.ts')
  const port = Number(process.env.PORT)
  const [apiPort, edgePort] = [port + 3, port + 4]
  const SITE_SECRET = 'a secret of the site that is long enough'
  const PUBLIC_URL = `http://localhost:${port}`
  const edge = await makeEdgeProcess({
    PORT: String(edgePort),
    API_INTERNAL_URL: `http://127.0.0.1:${apiPort}`,
    SITE_SECRET,
    PUBLIC_URL
  })
  await edge.start()
  await startSiteNginx(port, { sites: [edgePort], apis: [apiPort] })
  const TRUSTED_PROXIES = '127.0.0.1/32'
  const PORT = String(apiPort)
  Object.assign(process.env, { ROLE: 'api', PORT, SITE_SECRET, PUBLIC_URL, TRUSTED_PROXIES })
}

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
