import { createCipheriv, createDecipheriv } from 'node:crypto'
import { sql } from 'kysely'
import { selectInCompany } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, CompanySecretKeys, Deps } from '../deps.ts'

/** Proves which value a commitment (salted hash) in the evidence log contains. */
export interface FieldOpening {
  salt: string
  value: string
}

/** `lk` (base64url) is the key of the link in the QR code. */
export interface DepositOpenings {
  fields: Record<string, FieldOpening>
  lk: string
}

const nonceBytes = 12
const tagBytes = 16

export function encryptOpenings(
  deps: Pick<Deps, 'random'>,
  { data }: Pick<CompanySecretKeys, 'data'>,
  input: { company_id: CompanyId; record_id: string; openings: DepositOpenings }
): Buffer {
  const nonce = deps.random(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', data, nonce)
  cipher.setAAD(aadOf(input.company_id, input.record_id))
  return Buffer.concat([
    nonce,
    cipher.update(JSON.stringify(input.openings), 'utf8'),
    cipher.final(),
    cipher.getAuthTag()
  ])
}

/** Throws if there are none. */
export async function readOpeningsOfDeposit(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  { company_id, record_id }: { company_id: CompanyId; record_id: string }
): Promise<DepositOpenings> {
  const found = await readOpeningsOfDeposits(tx, deps, { company_id, record_ids: [record_id] })
  const openings = found.get(record_id)
  if (!openings) throw new Error(`record ${record_id} has no openings`)
  return openings
}

/** By the ids of the deposits. Leaves out deposits without openings. */
export async function readOpeningsOfDeposits(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  { company_id, record_ids }: { company_id: CompanyId; record_ids: readonly string[] }
): Promise<Map<string, DepositOpenings>> {
  const { data } = await deps.companyKeys.read(tx)
  const rows = await selectInCompany(tx, 'deposit_opening')
    .where(sql<boolean>`record_id = any (${[...record_ids]}::text[])`)
    .select(['record_id', 'sealed'])
    .execute()
  return new Map(
    rows.map(({ record_id, sealed }) => [
      record_id,
      decrypt(data, sealed, aadOf(company_id, record_id))
    ])
  )
}

function decrypt(data: CompanySecretKeys['data'], sealed: Buffer, aad: Buffer): DepositOpenings {
  const decipher = createDecipheriv('aes-256-gcm', data, sealed.subarray(0, nonceBytes))
  decipher.setAAD(aad)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  const text = Buffer.concat([
    decipher.update(sealed.subarray(nonceBytes, -tagBytes)),
    decipher.final()
  ]).toString('utf8')
  return JSON.parse(text) as DepositOpenings // as: written by encryptOpenings and authenticated
}

function aadOf(company_id: CompanyId, record_id: string): Buffer {
  return Buffer.from(`vidimus/opening/v1|${company_id}|${record_id}`)
}
