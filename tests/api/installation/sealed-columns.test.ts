import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sealedColumns } from '../../../src/server/db/sealed-columns.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { publishAll } from '../../helpers/evidence/published-log.ts'
import { makeEmailChange, makeSignUp } from '../../helpers/mailed.ts'

// G-09

interface Seal {
  sealed: Buffer
  plain: Buffer
  aad: string
}

test('all that the root secret seals is in the listed columns, beside the id of this secret', async () => {
  await using app = await makeApp()
  const seals = recordSeals(app)
  await makeRowsOfEachKind(app)
  const found = new Set<string>()
  for (const { table, column } of await listByteColumns(app)) {
    for (const { sealed, plain, aad } of seals) {
      const { rows } = await app.owner.query(
        `select to_jsonb(held) ->> 'kek_id' as kek_id, "${column}" as bytes from "${table}" as held
         where position($1::bytea in "${column}") > 0`,
        [sealed]
      )
      for (const { kek_id, bytes } of rows) {
        found.add(`${table}.${column}`)
        expect([table, column, kek_id]).toEqual([table, column, app.deps.keys.rootSecretId])
        // public keys have a byte for their form before
        expect(app.deps.keys.open(bytes.subarray(-sealed.length), aad).equals(plain)).toBe(true)
      }
    }
  }
  const listed = sealedColumns.map(({ table, column }) => `${table}.${column}`)
  expect([...found].sort()).toEqual(listed)
})

test('nothing seals under the root secret but what the rows above come from', () => {
  const folder = join(import.meta.dirname, '../../../src/server')
  const sealing = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .filter(name => /\bkeys\.(?:seal|sealSame)\(/.test(readFileSync(join(folder, name), 'utf8')))
  expect(sealing.sort()).toEqual([
    'domain/deposits/upload-digests.ts',
    'domain/evidence/company-keys.ts',
    'domain/evidence/log-keys.ts',
    'domain/key-proofs/public-keys.ts'
  ])
})

function recordSeals({ deps: { keys } }: TestApp): Seal[] {
  const seals: Seal[] = []
  for (const name of ['seal', 'sealSame'] as const) {
    const seal = keys[name]
    keys[name] = (plain, aad) => {
      const sealed = seal(plain, aad)
      seals.push({ sealed, plain: Buffer.from(plain), aad })
      return sealed
    }
  }
  return seals
}

async function makeRowsOfEachKind(app: TestApp): Promise<void> {
  await publishAll(app.deps, await app.addCompany('Gamma', 'gamma.localhost'))
  await makeSignUp(app)
  const ada = await app.signUp()
  await makeEmailChange(app, ada)
  await app.reserve(ada, randomBytes(300))
}

async function listByteColumns(app: TestApp): Promise<{ table: string; column: string }[]> {
  const { rows } = await app.owner.query(
    `select table_name as table, column_name as column from information_schema.columns
       join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and data_type = 'bytea'`
  )
  return rows
}
