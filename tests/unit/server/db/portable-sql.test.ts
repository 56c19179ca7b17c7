import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const source = join(import.meta.dirname, '../../../../src')
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name =>
  /\.(?:ts|sql)$/.test(name)
)

/** Returns the names of advisory lock functions in a text. These lock a number instead of a row. */
function advisoryLocks(text: string): string[] {
  return text.match(/\bpg_(?:try_)?advisory_\w+/gi) ?? []
}

test('locks rows alone, because not every server has advisory locks', () => {
  expect(advisoryLocks('select PG_TRY_advisory_xact_lock(1), pg_advisory_unlock(1)')).toHaveLength(
    2
  )
  expect(files.filter(name => name.endsWith('.sql')).length).toBeGreaterThan(30)
  expect(files.filter(name => name.endsWith('.ts')).length).toBeGreaterThan(300)
  const found = files.flatMap(name =>
    advisoryLocks(readFileSync(join(source, name), 'utf8')).map(lock => `${name}: ${lock}`)
  )
  expect(found).toEqual([])
})
