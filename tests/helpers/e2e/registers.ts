import { createSecretKey, type KeyObject } from 'node:crypto'
import { join, resolve } from 'node:path'
import { openInstallationKeys } from '../../../src/server/adapters/keys.ts'
import { makeRegister } from '../registers.ts'
import { queryServiceDatabase } from './admins.ts'
import { dataDir } from './data-dir.ts'

/** Makes a register of a company of the service under test, sealed with the company's keys. */
export function makeServiceRegister(
  company: string,
  register: Parameters<typeof makeRegister>[2]
): ReturnType<typeof makeRegister> {
  const owner = { query: queryServiceDatabase }
  const companyKeys = { open: () => readCompanyKeys(company) }
  return makeRegister({ owner, deps: { companyKeys } }, company, register)
}

async function readCompanyKeys(company: string): Promise<{ lookup: KeyObject; data: KeyObject }> {
  const rows = await queryServiceDatabase<{ kind: string; sealed: Buffer; kek_id: string }>(
    'select kind, sealed, kek_id from company_key where company_id = $1 and version = 1',
    [company]
  )
  const keys = await openInstallationKeys({
    directory: join(resolve(dataDir), 'keys'),
    recordedRootSecretId: rows[0]?.kek_id,
    clock: () => new Date()
  })
  const open = (kind: string) => {
    const row = rows.find(each => each.kind === kind)
    if (!row) throw new Error(`the company has no ${kind} key`)
    return createSecretKey(keys.open(row.sealed, `vidimus/company-key/v1|${company}|${kind}|1`))
  }
  return { lookup: open('lookup'), data: open('data') }
}
