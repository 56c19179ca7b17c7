import en from './en/admin/labels.json' with { type: 'json' }
import fr from './fr/admin/labels.json' with { type: 'json' }
import type { Locale } from './index.ts'

const labels: Record<Locale, Record<string, string>> = { en, fr }

/**
 * The label of a field of the API in forms, in conflicts and in the audit log: `max_storage` →
 * `Storage`, `other_field` → `other field`
 */
export function fieldLabel(field: string, locale: Locale): string {
  return labels[locale][field] ?? field.replaceAll('_', ' ')
}
