import { type Category, KeepOriginalsSetting } from '../../../contract/categories.ts'
import type { PictureTransform } from '../../../contract/deposits.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { StoredContentKind } from '../../../contract/requests.ts'
import { isDepositFieldValue } from '../../../core/evidence/deposit-leaf.ts'
import { acceptsMediaType } from '../../../core/media-types.ts'
import { allowedCategoriesQuery, joinInCompany } from '../../db/joins.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

/**
 * The rules that limit what may be deposited in a category: the allowed types of files, whether
 * reduced copies are allowed, and whether the service stores files or only their fingerprints.
 */
export type CategoryRules = Pick<Category, 'keep_originals' | 'store' | 'media_types'>

interface Wanted {
  company_id: CompanyId
  user_id: string
  category: string
  size: number
  media_type: string
  transform?: PictureTransform | undefined
}

/**
 * The query that reads the rules of a category. It returns one row for each of the caller's groups
 * that may use the category. No row means that the caller may not use the category.
 */
const allowedGroups = (tx: Tx, wanted: Pick<Wanted, 'company_id' | 'user_id' | 'category'>) =>
  allowedCategoriesQuery(tx, wanted)
    .innerJoin('group', join => joinInCompany(join, 'group.id', 'group_category.group_id'))
    .innerJoin('category', join => joinInCompany(join, 'category.id', 'group_category.category_id'))
    .where('group_category.category_id', '=', wanted.category)
    .select([
      'group.features',
      'category.names',
      'category.originals',
      'category.store',
      'category.media_types'
    ])

/**
 * Returns the rules of a category after checking a file. Throws if the caller may not use the
 * category, if the file is empty or too large, or if the category does not allow the file.
 */
export async function getCategoryRulesForFile(
  tx: Tx,
  deps: Deps,
  wanted: Wanted
): Promise<CategoryRules> {
  requireSizeAllowedByService(deps, wanted)
  const rules = await readCategoryRules(tx, wanted)
  requireAllowedType(rules, wanted)
  return rules
}

/**
 * Throws `file_empty` for an empty file, and `too_large` for a file above the size limit of the
 * service.
 */
export function requireSizeAllowedByService(
  { settings }: Pick<Deps, 'settings'>,
  { size }: Pick<Wanted, 'size'>
) {
  if (size === 0) throw new AppError('file_empty', 'An empty file cannot be deposited')
  if (size > settings.maxUploadBytes) {
    throw new AppError('too_large', `A file has at most ${settings.maxUploadBytes} bytes`)
  }
}

/**
 * Returns the rules of a category without checking a file. Throws `category_unknown` if the caller
 * may not use the category, and `forbidden` if the caller is in no group that may deposit. Throws
 * `category_unusable` if the record of a deposit cannot contain the name of the category.
 */
export async function readCategoryRules(
  tx: Tx,
  wanted: Pick<Wanted, 'company_id' | 'user_id' | 'category'>
): Promise<CategoryRules> {
  const allowed = await allowedGroups(tx, wanted).execute()
  const [rules] = allowed
  // the same error for missing, other companies' and forbidden categories
  if (!rules) {
    throw new AppError('category_unknown', 'The caller may not deposit in this category')
  }
  if (!allowed.some(group => group.features.includes('deposit'))) {
    throw new AppError('forbidden', 'No group of the caller has the feature deposit')
  }
  // the database refuses most of these names; the others would only fail when the record is written
  if (!isDepositFieldValue('category', rules.names.en)) {
    throw new AppError('category_unusable', 'The name of the category cannot enter a record')
  }
  return {
    keep_originals: KeepOriginalsSetting.parse(rules.originals),
    store: StoredContentKind.parse(rules.store),
    media_types: rules.media_types
  }
}

/**
 * Throws `type_not_allowed` if a category does not allow the type of a file. Throws
 * `transform_not_allowed` if the file is a reduced copy and the category does not allow reduced
 * copies.
 */
export function requireAllowedType(
  { media_types, keep_originals, store }: CategoryRules,
  wanted: Pick<Wanted, 'media_type' | 'transform'>
): void {
  // the type of the chosen file, because a reduced copy has a different type
  const type = wanted.transform?.from.type ?? wanted.media_type
  if (!acceptsMediaType(media_types, type)) {
    throw new AppError('type_not_allowed', `The category takes ${media_types?.join(', ')} only`)
  }
  if (wanted.transform && (keep_originals === 'yes' || store === 'fingerprint')) {
    throw new AppError('transform_not_allowed', 'The category takes files as they are')
  }
}
