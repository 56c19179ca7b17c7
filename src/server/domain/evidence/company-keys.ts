import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { tagged } from '../../../core/evidence/lookup-tag.ts'
import { inCompanyOnce, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Keys } from '../deps.ts'

/** Current version of both keys; rotation adds the next one. */
export const keyVersion = 1

export interface CompanyKeys {
  /** Keys the tags of `lookup_tag` and `blob`. */
  lookup: KeyObject
  /** Encrypts the openings of records. */
  data: KeyObject
}

const unsealed = new WeakMap<Keys, Map<CompanyId, CompanyKeys>>()

export async function createCompanyKeys(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'random' | 'clock'>,
  company_id: CompanyId
): Promise<void> {
  const rows = (['lookup', 'data'] as const).map(kind => ({
    company_id,
    kind,
    version: keyVersion,
    sealed: deps.keys.seal(deps.random(32), aadOf(company_id, kind)),
    kek_id: deps.keys.kekId,
    created_at: deps.clock()
  }))
  await tx.insertInto('company_key').values(rows).execute()
}

/** As `companyKeys`, outside a transaction. */
export async function openCompanyKeys(
  deps: Pick<Deps, 'db' | 'keys'>,
  company_id: CompanyId
): Promise<CompanyKeys> {
  const found = keysOf(deps).get(company_id)
  return found ?? inCompanyOnce(deps.db, company_id, tx => companyKeys(tx, deps, company_id))
}

/** The company's keys, opened once per process. */
export async function companyKeys(
  tx: Tx,
  deps: Pick<Deps, 'keys'>,
  company_id: CompanyId
): Promise<CompanyKeys> {
  const known = keysOf(deps)
  const found = known.get(company_id)
  if (found) return found
  const rows = await tx
    .selectFrom('company_key')
    .where('company_id', '=', company_id)
    .where('version', '=', keyVersion)
    .select(['kind', 'sealed'])
    .execute()
  const open = (kind: 'lookup' | 'data') => {
    const row = rows.find(each => each.kind === kind)
    if (!row) throw new Error(`company ${company_id} has no ${kind} key`)
    return createSecretKey(deps.keys.open(row.sealed, aadOf(company_id, kind)))
  }
  const keys = { lookup: open('lookup'), data: open('data') }
  known.set(company_id, keys)
  return keys
}

/** Keyed tag of a fingerprint, 32 bytes: what `lookupTag` of `core` defines, at a tenth of its time. */
export function tagOf(lookup: KeyObject, kind: 'sha256' | 'blob', digest: Uint8Array): Buffer {
  return createHmac('sha256', lookup).update(tagged(kind, digest)).digest()
}

function keysOf({ keys }: Pick<Deps, 'keys'>): Map<CompanyId, CompanyKeys> {
  const known = unsealed.get(keys) ?? new Map<CompanyId, CompanyKeys>()
  unsealed.set(keys, known)
  return known
}

function aadOf(company_id: CompanyId, kind: string): string {
  return `vidimus/company-key/v1|${company_id}|${kind}|${keyVersion}`
}
