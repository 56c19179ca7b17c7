import { createCipheriv, createDecipheriv } from 'node:crypto'
import { prepare } from '../db/prepared.ts'
import type { Tx } from '../db/scope.ts'
import { type CompanyKeys, companyKeys, keyVersion } from './company-keys.ts'
import type { CompanyId, Deps } from './deps.ts'

/** Salt and value of one committed field. */
export interface Opening {
  salt: string
  value: string
}

/** What opens a record: every field's salt and value, and the link key of its QR code (base64url). */
export interface Openings {
  fields: Record<string, Opening>
  lk: string
}

const nonceBytes = 12
const tagBytes = 16

/** The only reader and writer of `deposit_opening`. */
export async function sealOpenings(
  tx: Tx,
  deps: Pick<Deps, 'random'>,
  { data }: Pick<CompanyKeys, 'data'>,
  input: { company_id: CompanyId; record_id: string; openings: Openings }
): Promise<void> {
  const nonce = deps.random(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', data, nonce)
  cipher.setAAD(aadOf(input.company_id, input.record_id))
  const sealed = Buffer.concat([
    nonce,
    cipher.update(JSON.stringify(input.openings), 'utf8'),
    cipher.final(),
    cipher.getAuthTag()
  ])
  await tx.run(insertOpening, { ...input, sealed })
}

interface SealedOpening {
  company_id: CompanyId
  record_id: string
  sealed: Buffer
}

const insertOpening = prepare((db, { company_id, record_id, sealed }: SealedOpening) =>
  db
    .insertInto('deposit_opening')
    .values({ company_id, record_id, key_version: keyVersion, sealed })
)

export async function readOpenings(
  tx: Tx,
  deps: Pick<Deps, 'keys'>,
  input: { company_id: CompanyId; record_id: string }
): Promise<Openings> {
  const { data } = await companyKeys(tx, deps, input.company_id)
  const row = await tx
    .selectFrom('deposit_opening')
    .where('company_id', '=', input.company_id)
    .where('record_id', '=', input.record_id)
    .select('sealed')
    .executeTakeFirstOrThrow()
  const decipher = createDecipheriv('aes-256-gcm', data, row.sealed.subarray(0, nonceBytes))
  decipher.setAAD(aadOf(input.company_id, input.record_id))
  decipher.setAuthTag(row.sealed.subarray(-tagBytes))
  const text = Buffer.concat([
    decipher.update(row.sealed.subarray(nonceBytes, -tagBytes)),
    decipher.final()
  ]).toString('utf8')
  return JSON.parse(text) as Openings // as: written by sealOpenings and authenticated
}

function aadOf(company_id: CompanyId, record_id: string): Buffer {
  return Buffer.from(`vidimus/opening/v1|${company_id}|${record_id}`)
}
