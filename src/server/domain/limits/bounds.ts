import { sql } from 'kysely'
import { importLimits } from '../../../contract/imports.ts'
import { AppError, type ErrorCode } from '../../../contract/kit/errors.ts'
import { maxApiKeysPerOwner, maxUnprovedDomains } from '../../../contract/kit/limits.ts'
import { countRows, lockCompanyRow, selectInCompany } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import type { BoundSettings, Deps } from '../deps.ts'

// `too_many_items` is about the size of one call
type BoundCode = Exclude<Extract<ErrorCode, `too_many_${string}`>, 'too_many_items'>

interface Bound {
  code: BoundCode
  limit: (settings: BoundSettings) => number
  count: (tx: Tx) => Promise<number>
}

const bounds = {
  domains: {
    code: 'too_many_domains',
    limit: settings => settings.domains,
    count: tx => countRows(selectInCompany(tx, 'domain'))
  },
  unproved_domains: {
    code: 'too_many_claims',
    limit: () => maxUnprovedDomains,
    count: tx =>
      countRows(
        selectInCompany(tx, 'domain')
          .where('verified_at', 'is', null)
          // proved before, but not served now
          .where('quarantined_at', 'is', null)
      )
  },
  groups: {
    code: 'too_many_groups',
    limit: settings => settings.groups,
    count: tx => countRows(selectInCompany(tx, 'group'))
  },
  categories: {
    code: 'too_many_categories',
    limit: settings => settings.categories,
    count: tx => countRows(selectInCompany(tx, 'category'))
  },
  keys: {
    code: 'too_many_keys',
    limit: () => maxApiKeysPerOwner,
    count: tx => countRows(selectInCompany(tx, 'api_key').where('group_id', 'is not', null))
  },
  unfinished_imports: {
    code: 'too_many_imports',
    limit: () => importLimits.open,
    count: tx =>
      countRows(selectInCompany(tx, 'import').where('state', 'not in', ['done', 'undone']))
  },
  kept_imports: {
    code: 'too_many_kept_imports',
    limit: () => importLimits.kept,
    count: tx => countRows(selectInCompany(tx, 'import'))
  },
  import_bytes: {
    code: 'too_many_import_bytes',
    limit: settings => settings.importBytes,
    async count(tx) {
      const { bytes } = await selectInCompany(tx, 'import')
        .select(({ fn }) => fn.coalesce(fn.sum<number>('kept_bytes'), sql<number>`0`).as('bytes'))
        .executeTakeFirstOrThrow()
      return Number(bytes)
    }
  },
  people: {
    code: 'too_many_people',
    limit: settings => settings.people,
    count: tx => countRows(selectInCompany(tx, 'user').where('deleted_at', 'is', null))
  }
} satisfies Record<string, Bound>

/**
 * Locks the company's row, so parallel calls are counted one after the other. Adding nothing
 * passes, because a company may have more than a lowered setting allows. With `isAdded`, the
 * transaction has already stored what is added.
 */
export async function requireRoom(
  tx: Tx,
  { settings }: Pick<Deps, 'settings'>,
  name: keyof typeof bounds,
  adding = 1,
  { isAdded = false }: { isAdded?: boolean } = {}
): Promise<void> {
  if (adding <= 0) return
  const { code, limit, count }: Bound = bounds[name]
  await lockCompanyRow(tx)
  const used = (await count(tx)) - (isAdded ? adding : 0)
  requireWithin({ code, used, limit: limit(settings.bounds) }, adding)
}

/**
 * The caller holds a lock under which it has counted `used`. For bounds of a company, call
 * `requireRoom`.
 */
export function requireWithin(
  { code, used, limit }: { code: BoundCode; used: number; limit: number },
  adding = 1
): void {
  if (used + adding <= limit) return
  throw new AppError(code, `There are ${used}, and at most ${limit} are possible`, {
    figures: { used, limit, resets_at: null }
  })
}
