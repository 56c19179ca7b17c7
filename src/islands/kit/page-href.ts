import { type PageName, pagePath } from '../../core/pages/page-table.ts'
import { type Locale, localizedPath } from '../../i18n/index.ts'

/** `en`, `group`, `{ company: '7', group: '2' }` → `/en/admin/7/groups/2` */
export function pageHref<Name extends PageName>(
  locale: Locale,
  name: Name,
  params: Parameters<typeof pagePath<Name>>[1]
): string {
  return localizedPath(locale, pagePath(name, params))
}
