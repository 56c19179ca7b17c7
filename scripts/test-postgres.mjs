// Runs the database tests on the oldest supported PostgreSQL, 15, and on the bundled one, and
// prints the results of both at the end.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { runVitest } from './results.mjs'

const folders = [process.env.POSTGRES_BIN, '/usr/lib/postgresql/15/bin', '/usr/pgsql-15/bin']
const system = folders.find(folder => folder && existsSync(`${folder}/initdb`))
if (!system) {
  console.error(
    'PostgreSQL 15 was not found. Debian and Ubuntu have it as postgresql-15, Fedora as postgresql15-server. Elsewhere, set POSTGRES_BIN to the folder of its initdb and postgres.'
  )
  process.exit(1)
}

const ours = ['tests/api', 'tests/unit/server/db/migrate', 'tests/unit/server/db/scope']
const asked = process.argv.slice(2)
const filters = asked.length > 0 ? asked : ours
const summary = []
for (const [name, folder] of [
  [`${versionOf(system)} in ${system}`, system],
  ['bundled PostgreSQL', '']
]) {
  console.log(`\nTests on ${name}`)
  const { passed, failed } = await runVitest(filters, { POSTGRES_BIN: folder })
  if (failed.length > 0 || passed === 0) process.exitCode = 1
  summary.push(`${name}: ${passed} passed, ${failed.length} failed`)
}
console.log(`\n${summary.join('\n')}`)

/** From the output of `postgres`: `postgres (PostgreSQL) 15.14 (Debian …)` → `PostgreSQL 15.14` */
function versionOf(folder) {
  const { stdout } = spawnSync(`${folder}/postgres`, ['--version'], { encoding: 'utf8' })
  return `PostgreSQL ${/\) (\S+)/.exec(stdout ?? '')?.[1] ?? 'of unknown version'}`
}
