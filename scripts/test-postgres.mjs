// Runs what asks a database on the oldest PostgreSQL that is taken, 15, and on the bundled one.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const folders = [process.env.POSTGRES_BIN, '/usr/lib/postgresql/15/bin', '/usr/pgsql-15/bin']
const system = folders.find(folder => folder && existsSync(`${folder}/initdb`))
if (!system) {
  console.error(
    'PostgreSQL 15 is not here. Debian and Ubuntu have it as postgresql-15, Fedora as postgresql15-server; elsewhere let POSTGRES_BIN name the folder of its initdb and postgres.'
  )
  process.exit(1)
}

const ours = ['tests/api', 'tests/unit/server/db/migrate', 'tests/unit/server/db/scope']
const asked = process.argv.slice(2)
const filters = asked.length > 0 ? asked : ours
let failed = false
for (const [name, folder] of [
  [`PostgreSQL of ${system}`, system],
  ['bundled PostgreSQL', '']
]) {
  console.log(`\nTests on the ${name}`)
  const { status } = spawnSync('vitest', ['run', ...filters], {
    stdio: 'inherit',
    env: { ...process.env, POSTGRES_BIN: folder },
    shell: process.platform === 'win32'
  })
  failed ||= status !== 0
}
process.exit(failed ? 1 : 0)
