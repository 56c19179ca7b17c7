import type { RegisterImport } from '../../contract/register-imports.ts'
import type { Translate } from '../../i18n/index.ts'

/** Without `removed` for an import that only adds. Undefined before the dry run. */
export function describeDryRun(item: RegisterImport, t: Translate): string | undefined {
  const { counts, mode } = item
  if (!counts) return undefined
  const names = ['new', 'changed', 'unchanged', 'refused', 'removed'] as const
  const shown = names.filter(
    name => name !== 'removed' || (mode === 'replace' && counts.removed > 0)
  )
  const parts = shown.map(name => t(`registerImports.counts.${name}`, { count: counts[name] }))
  return t('registerImports.check.counts', {
    rows: t('registerImports.rows', { count: item.rows }),
    counts: parts.join(', ')
  })
}

/** Whether a run would leave the list as it is. */
export function changesNothing({ counts }: RegisterImport): boolean {
  return counts !== null && counts.new + counts.changed + counts.removed === 0
}

/** Whether at least one row can be imported. */
export function hasUsableRows({ counts }: RegisterImport): boolean {
  return counts !== null && counts.new + counts.changed + counts.unchanged > 0
}
