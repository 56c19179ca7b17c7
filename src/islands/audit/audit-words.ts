import { type AuditChange, type AuditLogEntry, serviceActorId } from '../../contract/audit.ts'
import { separateCompleteMediaKinds } from '../../core/media-types.ts'
import { formatBytes, formatDateTime, formatDuration } from '../../core/text/format.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { type Locale, languageTag } from '../../i18n/index.ts'
import { parseAuditAction, type TranslateAudit } from './audit-translator.ts'

export type SentencePart = string | { role: Role; name: string }
type Role = 'who' | 'what' | 'user' | 'category'

const roles: readonly Role[] = ['who', 'what', 'user', 'category']

/** `['', { role: 'who', name: 'Ada' }, ' created the group ', …]` */
export function buildAuditSentenceParts(entry: AuditLogEntry, t: TranslateAudit): SentencePart[] {
  const { actor, target, action, acted_in } = entry
  const names: Record<Role, string> = {
    who: actorOf(actor, t),
    what: target.name ?? (acted_in ? `(${acted_in})` : namelessOf(target.kind, t)),
    user: mentioned(entry, 'user_id') ?? t('nameless.user'),
    category: mentioned(entry, 'category_id') ?? t('nameless.category')
  }
  const isOwn = action === 'user.delete' && actor.id === target.id
  // the places of the names are marked, so that names are not searched for braces
  const marked = Object.fromEntries(roles.map(role => [role, `\0${role}\0`]))
  const known = parseAuditAction(action)
  const ofService = actor.id === serviceActorId && actionsOfService.find(each => each === action)
  const sentence = isOwn
    ? t('ownDeletion', marked)
    : ofService
      ? t(`ofService.${ofService}`, marked)
      : known
        ? t(`actions.${known}`, marked)
        : t('otherAction', { ...marked, action })
  return sentence.split('\0').map(text => {
    const role = roles.find(each => each === text)
    return role ? { role, name: names[role] } : text
  })
}

// the service did these, and nobody decided on them
const actionsOfService = ['domain.uncover', 'domain.cover'] as const

function actorOf({ id, name, company }: AuditLogEntry['actor'], t: TranslateAudit): string {
  if (id === serviceActorId) return t('dailyCheck')
  const who = name ?? t('nameless.person')
  return company === undefined ? who : t('of', { name: who, company })
}

function namelessOf(kind: string, t: TranslateAudit): string {
  switch (kind) {
    case 'user':
    case 'group':
    case 'category':
    case 'data_source':
    case 'domain':
      return t(`nameless.${kind}`)
    default:
      return t('nameless.item')
  }
}

function mentioned({ changes, names }: AuditLogEntry, field: string): string | undefined {
  const change = changes?.find(each => each.field === field)
  const id = change?.after ?? change?.before
  return names.find(each => each.id === id)?.name
}

export interface ChangeDescription {
  field: string
  label: string
  before: string | undefined
  after: string | undefined
}

// `null` is a setting of these fields: no limit, or requests that are never reset
const limits = ['max_requests', 'max_requests_interval', 'max_storage']

// their values are hashes of pictures
const pictures = ['logo', 'logo_dark', 'favicon']

/** Leaves out what the sentence says already, and `if_match`, which is not a field of the item. */
export function describeChanges(
  entry: AuditLogEntry,
  locale: Locale,
  t: TranslateAudit
): ChangeDescription[] {
  const { action, changes, names } = entry
  const isDeletion = action.endsWith('.delete')
  const inSentence = /\.(?:add|remove)_(?:user|category)$/.test(action)
  const shown = (changes ?? []).filter(
    ({ field }) => field !== 'if_match' && !(inSentence && /^(?:user|category)_id$/.test(field))
  )
  const wordsOf = (field: string, value: unknown) => valueWords(field, value, { locale, t, names })
  return shown.map(({ field, before, after }: AuditChange) => {
    const isReplaced = pictures.includes(field) && before !== null && after !== null
    // the sentence says that the person or the company is enabled again
    const isGone = isDeletion || (/^(?:disabled|suspended)$/.test(field) && after === null)
    const hasBefore = before !== null || (limits.includes(field) && action.endsWith('.update'))
    return {
      field,
      label: fieldLabel(field, locale),
      before: hasBefore && !isReplaced ? wordsOf(field, before) : undefined,
      after: isGone ? undefined : isReplaced ? t('replaced') : wordsOf(field, after)
    }
  })
}

/**
 * Says whether the caller sent no `If-Match`, so the change may have overwritten one that they had
 * not seen.
 */
export function skippedVersionCheck({ changes }: AuditLogEntry): boolean {
  return changes?.some(({ field }) => field === 'if_match') === true
}

interface Surroundings {
  locale: Locale
  t: TranslateAudit
  names: AuditLogEntry['names']
}

const longest = 160

function valueWords(field: string, value: unknown, around: Surroundings): string {
  const { locale, t, names } = around
  if (value === null || value === undefined) {
    if (field === 'max_requests_interval') return t('always')
    return limits.includes(field) ? t('noLimit') : t('nothing')
  }
  if (typeof value === 'boolean')
    return wordOr(`values.${field}.${value}`, t(value ? 'yes' : 'no'), t)
  if (typeof value === 'number') {
    return field === 'max_storage' || field === 'bytes'
      ? formatBytes(value, locale)
      : new Intl.NumberFormat(languageTag(locale)).format(value)
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return t('nothing')
    if (field === 'media_types') {
      const { kinds, others } = separateCompleteMediaKinds(value.map(String))
      return [...kinds.map(kind => t(`values.media_types.${kind}`)), ...others].join(', ')
    }
    return value.map(each => valueWords(field, each, around)).join(', ')
  }
  if (typeof value === 'object') return objectWords(value, around)
  if (pictures.includes(field)) return t('picture')
  const text = String(value)
  const named = names.find(({ id }) => id === text)
  if (named) return named.name
  if (field === 'retention') return formatDuration(text, locale)
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return formatDateTime(new Date(text), locale)
  const list = field === 'max_requests_interval' ? 'interval' : field
  const word = wordOr(`values.${list}.${text}`, text, t)
  return word.length > longest ? `${word.slice(0, longest)}…` : word
}

function objectWords(value: object, around: Surroundings): string {
  const { locale, t } = around
  if ('reason' in value && 'since' in value) {
    const words = t('values.disabled', {
      date: formatDateTime(new Date(String(value.since)), locale),
      reason: valueWords('reason', value.reason, around)
    })
    if (!('verification' in value)) return words
    return `${words}, ${valueWords('verification', value.verification, around)}`
  }
  return Object.entries(value)
    .map(([name, each]) =>
      t('named', {
        name: wordOr(`values.locale.${name}`, wordOr(`values.colors.${name}`, name, t), t),
        value: valueWords('', each, around)
      })
    )
    .join(', ')
}

function wordOr(key: string, otherwise: string, t: TranslateAudit): string {
  // as: the key comes from what was stored, and may be one that this release does not know
  const found = t(key as 'nothing')
  return found === key ? otherwise : found
}
