import { type Category, KeepOriginalsSetting } from '../../../contract/categories.ts'
import type { PictureTransform } from '../../../contract/deposits.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { StoredContentKind } from '../../../contract/requests.ts'
import { isDepositFieldValue } from '../../../core/evidence/deposit-leaf.ts'
import { acceptsMediaType } from '../../../core/media-types.ts'
import { allowedCategoriesQuery, joinInCompany } from '../../db/joins.ts'
import type { Tx } from '../../db/scope.ts'
import { chooseCategoryIfNoneNamed } from '../companies/categories.ts'
import type { CompanyId, Deps } from '../deps.ts'

export type CategoryRules = Pick<Category, 'keep_originals' | 'store' | 'media_types'>

export interface Admission {
  category: string
  rules: CategoryRules
}

interface Person {
  company_id: CompanyId
  user_id: string
}

interface AnnouncedFile {
  size: number
  media_type: string
  category?: string | undefined
  transform?: PictureTransform | undefined
  /** The SHA-256 of the chosen file, if it is known yet. */
  original?: string
  /** The SHA-256 of the file to store. */
  stored?: string
}

// Before anything is stored or charged. Beside the rules of the category, an error says
// `fingerprint_invalid` if fingerprints, size or type do not agree with `transform`, and
// `category_unusable` if the record of a deposit cannot contain the name of the category.
export async function admitFiles(
  tx: Tx,
  deps: Pick<Deps, 'settings'>,
  person: Person,
  files: readonly AnnouncedFile[]
): Promise<(Admission | AppError)[]> {
  const read = new Map<string | undefined, Admission | AppError>()
  const outcomes: (Admission | AppError)[] = []
  for (const file of files) {
    try {
      requireConsistentTransform(file)
      requireSizeAllowedByService(deps, file)
      const { category } = file
      const found = read.get(category) ?? (await admit(tx, person, category).catch(asRefusal))
      read.set(category, found)
      if (!(found instanceof AppError)) requireAllowedType(found.rules, file)
      outcomes.push(found)
    } catch (error) {
      outcomes.push(asRefusal(error))
    }
  }
  return outcomes
}

function asRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}

async function admit(tx: Tx, person: Person, named: string | undefined): Promise<Admission> {
  const category = named ?? (await chooseCategoryIfNoneNamed(tx, person))
  return { category, rules: await readCategoryRules(tx, { ...person, category }) }
}

function requireConsistentTransform({ transform, ...file }: AnnouncedFile): void {
  if (!transform && file.original !== file.stored) {
    throw new AppError('fingerprint_invalid', 'Without a transform both fingerprints are equal')
  }
  const sent = transform?.to
  if (sent && (sent.bytes !== file.size || sent.type !== file.media_type)) {
    throw new AppError('fingerprint_invalid', 'The transform says other bytes than are announced')
  }
}

function requireSizeAllowedByService(
  { settings }: Pick<Deps, 'settings'>,
  { size }: AnnouncedFile
): void {
  if (size === 0) throw new AppError('file_empty', 'An empty file cannot be deposited')
  if (size > settings.maxUploadBytes) {
    throw new AppError('too_large', `A file has at most ${settings.maxUploadBytes} bytes`)
  }
}

async function readCategoryRules(
  tx: Tx,
  wanted: Person & { category: string }
): Promise<CategoryRules> {
  // one row for each of the caller's groups that may use the category
  const allowed = await allowedCategoriesQuery(tx, wanted)
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
    .execute()
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

function requireAllowedType(
  { media_types, keep_originals, store }: CategoryRules,
  wanted: AnnouncedFile
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
