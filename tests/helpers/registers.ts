import { randomBytes, randomUUID } from 'node:crypto'
import type { RegisterColumn } from '../../src/contract/registers.ts'
import { type CompanyId, toCompanyId } from '../../src/server/db/scope.ts'
import type { CompanySecretKeys } from '../../src/server/domain/deps.ts'
import { keyedHashOf } from '../../src/server/domain/evidence/keyed-hashes.ts'
import {
  cellNamesOf,
  sealRow,
  tagOfReference
} from '../../src/server/domain/registers/register-rows.ts'

/** A diploma number, checked with last name and date of birth; shows the degree. */
export const diplomaColumns: RegisterColumn[] = [
  {
    index: 0,
    header: 'number',
    use: 'reference',
    shown: true,
    labels: { en: 'Diploma number', fr: 'Numéro de diplôme' }
  },
  {
    index: 1,
    header: 'name',
    use: 'check',
    shown: false,
    labels: { en: 'Last name', fr: 'Nom' }
  },
  {
    index: 2,
    header: 'born',
    use: 'check',
    shown: false,
    date: 'ymd',
    labels: { en: 'Date of birth', fr: 'Date de naissance' }
  },
  {
    index: 3,
    header: 'degree',
    use: 'shown',
    shown: true,
    labels: { en: 'Degree', fr: 'Diplôme' }
  }
]

export const csvDialect = {
  delimiter: ',',
  encoding: 'utf-8',
  newline: '\n',
  has_header: true,
  first_row: 1
} as const

/** The fingerprint of a document, and a shown title. */
export const fileColumns: RegisterColumn[] = [
  {
    index: 0,
    header: 'sha256',
    use: 'fingerprint',
    shown: true,
    labels: { en: 'Fingerprint', fr: 'Empreinte' }
  },
  { index: 1, header: 'title', use: 'shown', shown: true, labels: { en: 'Title', fr: 'Titre' } }
]

/** A test app has this form. */
interface Service {
  owner: { query(text: string, values: unknown[]): Promise<unknown> }
  deps: { companyKeys: { open(company: CompanyId): Promise<CompanySecretKeys> } }
}

/**
 * Makes a data source whose first version has `rows`: cells by the index of their column. With
 * `category`, that category names the source.
 */
export async function makeRegister(
  app: Service,
  company: string,
  {
    columns,
    rows,
    category,
    name = `Register ${randomUUID()}`
  }: { columns: RegisterColumn[]; rows: string[][]; category?: string; name?: string }
): Promise<{ id: string; name: string }> {
  const id = randomUUID()
  const register_id = randomBytes(16).toString('base64url')
  const place = { company_id: company, source_id: id, register_id, segment: 1 }
  const keys = await app.deps.companyKeys.open(toCompanyId(company))
  const names = cellNamesOf(columns)
  const key = columns.find(({ use }) => use === 'fingerprint' || use === 'reference')
  const checks = columns.filter(({ use }) => use === 'check')
  await app.owner.query(
    `insert into data_source (company_id, id, name, register_id, created_at, columns, number,
       segments, last_segment, checked_at)
     values ($1, $2, $3, $4, now(), $5, 1, '{1}', 1, now())`,
    [company, id, name, register_id, JSON.stringify(columns)]
  )
  await app.owner.query(
    `insert into register_version (company_id, source_id, number, segments, rows, root, mode,
       columns, added, changed, removed, created_at)
     values ($1, $2, 1, '{1}', $3, '', 'replace', $4, $3, 0, 0, now())`,
    [company, id, rows.length, JSON.stringify(columns)]
  )
  for (const [number, row] of rows.entries()) {
    const cellOf = ({ index }: RegisterColumn) => row[index] ?? ''
    const cells = Object.fromEntries([...names].map(([index, each]) => [each, row[index] ?? '']))
    const tag =
      key?.use === 'fingerprint'
        ? keyedHashOf(keys.lookup, 'sha256', Buffer.from(cellOf(key), 'hex'))
        : tagOfReference(keys.lookup, id, key ? cellOf(key) : '', checks.map(cellOf))
    const { content, row_hash, sealed } = sealRow(keys, place, { tag, cells, random: randomBytes })
    await app.owner.query(
      `insert into register_row (company_id, source_id, segment, number, tag, content, row_hash, sealed)
       values ($1, $2, 1, $3, $4, $5, $6, $7)`,
      [company, id, number, tag, content, Buffer.from(row_hash), sealed]
    )
  }
  if (category !== undefined) {
    await app.owner.query(
      'insert into category_data_source (company_id, category_id, source_id) values ($1, $2, $3)',
      [company, category, id]
    )
  }
  return { id, name }
}
