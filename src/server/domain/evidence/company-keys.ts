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

type CompanyKeyKind = 'lookup' | 'data' | 'log' | 'answers'

/** Of `lookup` and `data`. If they are ever replaced, the new ones get the next number. */
export const companyKeyVersion = 1

/** Creates a random key of 32 bytes for each kind, unless there is one of this version. */
export async function createCompanyKeys(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'random' | 'clock'>,
  kinds: readonly CompanyKeyKind[],
  version = companyKeyVersion
): Promise<void> {
  const company_id = tx.companyId
  const rows = kinds.map(kind => ({
    company_id,
    kind,
    version,
    sealed: deps.keys.seal(deps.random(32), aadOf(company_id, kind, version)),
    kek_id: deps.keys.rootSecretId,
    created_at: deps.clock()
  }))
  await tx
    .insertInto('company_key')
    .values(rows)
    .onConflict(key => key.doNothing())
    .execute()
}

/** Returns those that exist. */
export async function openCompanyKeys(
  tx: Tx,
  keys: InstallationKeys,
  version: number
): Promise<Partial<Record<CompanyKeyKind, Buffer>>> {
  const rows = await selectInCompany(tx, 'company_key')
    .where('version', '=', version)
    .select(['kind', 'sealed'])
    .execute()
  return Object.fromEntries(
    rows.map(({ kind, sealed }) => [kind, keys.open(sealed, aadOf(tx.companyId, kind, version))])
  )
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
  const { lookup, data } = await openCompanyKeys(tx, keys, companyKeyVersion)
  if (!lookup || !data) throw new Error(`company ${tx.companyId} has no lookup or data key`)
  return { lookup: createSecretKey(lookup), data: createSecretKey(data) }
}

function aadOf(company_id: CompanyId, kind: string, version: number): string {
  return `vidimus/company-key/v1|${company_id}|${kind}|${version}`
}
