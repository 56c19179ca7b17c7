import { createCipheriv, createDecipheriv, createHmac, type KeyObject } from 'node:crypto'
import type { RegisterColumn } from '../../../contract/registers.ts'
import { toUtf8 } from '../../../core/bytes.ts'
import { canonicalize } from '../../../core/evidence/canonical-json.ts'
import { createHashInputPrefix } from '../../../core/evidence/formats.ts'
import { hashLeaf } from '../../../core/evidence/merkle-tree.ts'
import { referenceTagMessage } from '../../../core/evidence/reference-tag.ts'
import { commitToRow } from '../../../core/evidence/register-row.ts'
import type { CompanySecretKeys } from '../deps.ts'

/** The segment of a register to which a row belongs for good. */
export interface RowPlace {
  company_id: string
  source_id: string
  /** The name of the register in the log. */
  register_id: string
  segment: number
}

/** The key column and the shown columns, by the names of `cellNamesOf`. */
export type RowCells = Record<string, string>

const saltBytes = 32
const nonceBytes = 12
const authTagBytes = 16
const contentBytes = 16

/** Returns the name of each column whose cells are kept, by its index in the file. */
export function cellNamesOf(columns: readonly RegisterColumn[]): Map<number, string> {
  const names = new Map<number, string>()
  const taken = new Set<string>()
  for (const { index, header, use, shown } of columns.toSorted((a, b) => a.index - b.index)) {
    if (use === 'check' && !shown) continue
    names.set(index, uniqueName(taken, header))
  }
  return names
}

/** `Name (2)` for the second `Name`. Adds it to the names that are taken. */
export function uniqueName(taken: Set<string>, header: string): string {
  let name = header
  for (let count = 2; taken.has(name); count++) name = `${header} (${count})`
  taken.add(name)
  return name
}

/** Returns the tag by which a row is found: 32 bytes. Rows by fingerprint have that of deposits. */
export function tagOfReference(
  lookup: KeyObject,
  sourceId: string,
  reference: string,
  checkValues: readonly string[]
): Buffer {
  return createHmac('sha256', lookup)
    .update(referenceTagMessage(sourceId, reference, checkValues))
    .digest()
}

export interface SealedRow {
  /** 16 bytes that are equal for rows of a register with equal cells. */
  content: Buffer
  /** The leaf of the row in its segment's tree. */
  row_hash: Uint8Array
  /** The salt and the cells. */
  sealed: Buffer
}

export function sealRow(
  { lookup, data }: Pick<CompanySecretKeys, 'lookup' | 'data'>,
  place: RowPlace,
  {
    tag,
    cells,
    random
  }: { tag: Uint8Array; cells: RowCells; random: (length: number) => Uint8Array }
): SealedRow {
  const text = toUtf8(canonicalize(cells))
  const salt = random(saltBytes)
  const nonce = random(nonceBytes)
  const { source_id, register_id: register, segment } = place
  const cipher = createCipheriv('aes-256-gcm', data, nonce).setAAD(aadOf(place, tag))
  return {
    content: createHmac('sha256', lookup)
      .update(createHashInputPrefix(`tag/content/${source_id}`))
      .update(text)
      .digest()
      .subarray(0, contentBytes),
    row_hash: hashLeaf(commitToRow({ register, segment, salt, cells: text })),
    sealed: Buffer.concat([
      nonce,
      cipher.update(salt),
      cipher.update(text),
      cipher.final(),
      cipher.getAuthTag()
    ])
  }
}

/** Throws if the bytes are not those of this row. */
export function openRow(
  { data }: Pick<CompanySecretKeys, 'data'>,
  place: Omit<RowPlace, 'register_id'>,
  { tag, sealed }: { tag: Uint8Array; sealed: Uint8Array }
): { salt: Buffer; cells: RowCells } {
  const decipher = createDecipheriv('aes-256-gcm', data, sealed.subarray(0, nonceBytes))
  decipher.setAAD(aadOf(place, tag))
  decipher.setAuthTag(sealed.subarray(-authTagBytes))
  const plain = Buffer.concat([
    decipher.update(sealed.subarray(nonceBytes, -authTagBytes)),
    decipher.final()
  ])
  const text = plain.toString('utf8', saltBytes)
  // as: written by `sealRow` and authenticated
  return { salt: plain.subarray(0, saltBytes), cells: JSON.parse(text) as RowCells }
}

function aadOf(
  { company_id, source_id, segment }: Omit<RowPlace, 'register_id'>,
  tag: Uint8Array
): Buffer {
  const hex = Buffer.from(tag).toString('hex')
  return Buffer.from(`vidimus/register-row/v1|${company_id}|${source_id}|${segment}|${hex}`)
}
