import type { AuditAction } from '../../contract/audit.ts'
import en from '../../i18n/en/admin/changes.json'
import fr from '../../i18n/fr/admin/changes.json'
import { type Locale, type Translate, translator, type Words } from '../../i18n/index.ts'
import type { KeyIn } from '../../i18n/keys.ts'

/** Translates the keys of `changes.json`: `t('actions.group.create', { who, what })`. */
export type TranslateChange = Translate<KeyIn<'changes'>>

const catalogues: Record<Locale, Words> = { en, fr }

/**
 * Returns the function that translates the sentences about changes. These words are part of the
 * script and not of the page: they are too many for the HTML of each page that shows changes.
 */
export function changeTranslator(locale: Locale): TranslateChange {
  return translator(locale, catalogues[locale])
}

/** The actions that have a sentence, by the kind of the changed item. */
export const actionsByKind: readonly [kind: string, actions: AuditAction[]][] = Object.entries(
  en.actions
).map(([kind, verbs]) => [
  kind,
  // as: a test compares them with the actions of the contract
  Object.keys(verbs).map(verb => `${kind}.${verb}` as AuditAction)
])

const actions = actionsByKind.flatMap(([, each]) => each)

/**
 * Parses an action of the audit log. Returns undefined for an action that this release does not
 * know.
 */
export function parseAuditAction(action: string | null): AuditAction | undefined {
  return actions.find(each => each === action)
}
