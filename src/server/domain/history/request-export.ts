import { sql } from 'kysely'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { toHex } from '../../../core/bytes.ts'
import type { CellSeparator } from '../../../core/csv/cells.ts'
import { parseDigest } from '../../../core/evidence/formats.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import { exportCsv } from '../csv-export.ts'
import type { Deps } from '../deps.ts'
import { readOpeningsOfDeposits } from '../evidence/sealed-openings.ts'
import { type RequestFilter, readRequests, requireVisibleFilterCategory } from './requests.ts'

interface ExportInput extends RequestFilter {
  locale: 'en' | 'fr'
  format: ExportFormat
}

/** Leaves out requests that are created after the export has begun. */
export function exportRequests(
  deps: Pick<Deps, 'db' | 'companyKeys'>,
  { locale, format, ...filter }: ExportInput
): AsyncGenerator<string, void, void> {
  const { company_id } = filter
  const names = new Map<string, string>()
  return exportCsv(deps, {
    ...{ company_id, ...format },
    async readPage(tx, page) {
      const { items: requests, next } = await readRequests(tx, { ...filter, ...page })
      if (requests.length === 0 && page.cursor === undefined)
        await requireVisibleFilterCategory(tx, filter)
      await nameCategories(tx, requests, names, locale)
      const digests = await readDigests(tx, deps, requests)
      const items = requests.map(request => ({
        ...request,
        ...digests.get(request.deposit_id ?? ''),
        category: request.category_id && names.get(request.category_id)
      }))
      return { items, next }
    },
    toRows: requests => requests
  })
}

// Hex. `sha256` is that of the chosen file, `stored_sha256` that of its reduced copy.
interface Digests {
  sha256: string
  stored_sha256: string | undefined
}

export type ExportedRequest = ProcessedRequest & Partial<Digests> & { category: string | undefined }

/**
 * The first six columns are id, kind, time, state, reason and name, because the browser adds the
 * names of verified files to the sixth.
 */
export interface ExportFormat {
  columns: Record<string, (request: ExportedRequest) => string | number | undefined>
  separator: CellSeparator
}

async function readDigests(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  requests: readonly ProcessedRequest[]
): Promise<Map<string, Digests>> {
  const record_ids = requests.flatMap(({ deposit_id }) => deposit_id ?? [])
  if (record_ids.length === 0) return new Map()
  const found = await readOpeningsOfDeposits(tx, deps, { company_id: tx.companyId, record_ids })
  const hexOf = (digest: string | undefined) => (digest ? toHex(parseDigest(digest)) : undefined)
  const digests = new Map<string, Digests>()
  for (const [id, { fields }] of found) {
    const [sha256, stored] = [hexOf(fields['orig']?.value), hexOf(fields['stored']?.value)]
    if (sha256) digests.set(id, { sha256, stored_sha256: stored === sha256 ? undefined : stored })
  }
  return digests
}

async function nameCategories(
  tx: Tx,
  requests: ProcessedRequest[],
  names: Map<string, string>,
  locale: 'en' | 'fr'
): Promise<void> {
  const ids = requests.flatMap(({ category_id }) => category_id ?? [])
  const missing = [...new Set(ids)].filter(id => !names.has(id))
  if (missing.length === 0) return
  const found = await selectInCompany(tx, 'category')
    .select(['id', 'names'])
    .where(sql<boolean>`id = any (${missing}::uuid[])`)
    .execute()
  for (const { id, names: each } of found) names.set(id, each[locale])
}
