import type { AuditAction } from '../../contract/audit.ts'
import en from '../../i18n/en/admin/changes.json' with { type: 'json' }
import fr from '../../i18n/fr/admin/changes.json' with { type: 'json' }
import { type Locale, type Messages, type Translate, translator } from '../../i18n/index.ts'
import type { NamespaceKey } from '../../i18n/keys.ts'

export type TranslateAudit = Translate<NamespaceKey<'changes'>>

const catalogs: Record<Locale, Messages> = { en, fr }

// the texts are part of the script and not of the HTML, because they are long and several pages use
// them
export function auditTranslator(locale: Locale): TranslateAudit {
  return translator(locale, catalogs[locale])
}

/** `[['group', ['group.create', …]], …]` */
export const actionsByItemKind: readonly [kind: string, actions: AuditAction[]][] = Object.entries(
  en.actions
).map(([kind, verbs]) => [
  kind,
  // as: a test compares them with the actions of the contract
  Object.keys(verbs).map(verb => `${kind}.${verb}` as AuditAction)
])

const actions = actionsByItemKind.flatMap(([, each]) => each)

export function parseAuditAction(action: string | null): AuditAction | undefined {
  return actions.find(each => each === action)
}
