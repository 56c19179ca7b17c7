import { createSecretKey } from 'node:crypto'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type {
  CompanyId,
  CompanySecretKeyReader,
  CompanySecretKeys,
  Deps,
  InstallationKeys
} from '../deps.ts'

/** If company keys are ever replaced, the new ones get the next number. */
export const companyKeyVersion = 1

export async function createCompanySecretKeys(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'random' | 'clock'>,
  company_id: CompanyId
): Promise<void> {
  const rows = (['lookup', 'data'] as const).map(kind => ({
    company_id,
    kind,
    version: companyKeyVersion,
    sealed: deps.keys.seal(deps.random(32), aadOf(company_id, kind)),
    kek_id: deps.keys.rootSecretId,
    created_at: deps.clock()
  }))
  await tx.insertInto('company_key').values(rows).execute()
}

/** Decrypts the keys of each company once per process and keeps them in memory. */
export function createCompanySecretKeyReader({
  db,
  keys
}: Pick<Deps, 'db' | 'keys'>): CompanySecretKeyReader {
  const unsealed = new Map<CompanyId, CompanySecretKeys>()
  // each of the fifty files of a batch asks for them, and the batch has one connection
  const opening = new Map<CompanyId, Promise<CompanySecretKeys>>()
  async function read(tx: Tx): Promise<CompanySecretKeys> {
    const found = unsealed.get(tx.companyId) ?? (await readCompanyKeys(tx, keys))
    unsealed.set(tx.companyId, found)
    return found
  }
  return {
    read,
    async open(company_id) {
      const known = unsealed.get(company_id) ?? opening.get(company_id)
      if (known) return known
      const begun = inCompany(db, company_id, read).finally(() => opening.delete(company_id))
      opening.set(company_id, begun)
      return begun
    }
  }
}

async function readCompanyKeys(tx: Tx, keys: InstallationKeys): Promise<CompanySecretKeys> {
  const company_id = tx.companyId
  const rows = await selectInCompany(tx, 'company_key')
    .where('version', '=', companyKeyVersion)
    .select(['kind', 'sealed'])
    .execute()
  const unseal = (kind: 'lookup' | 'data') => {
    const row = rows.find(each => each.kind === kind)
    if (!row) throw new Error(`company ${company_id} has no ${kind} key`)
    return createSecretKey(keys.open(row.sealed, aadOf(company_id, kind)))
  }
  return { lookup: unseal('lookup'), data: unseal('data') }
}

function aadOf(company_id: CompanyId, kind: string): string {
  return `vidimus/company-key/v1|${company_id}|${kind}|${companyKeyVersion}`
}
