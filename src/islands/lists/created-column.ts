import { dateTag } from '../../core/text/date-tag.ts'
import { type Locale, languageTag } from '../../i18n/index.ts'
import type { TableColumn } from './DataTable.tsx'

/**
 * Returns a column that shows on which day each item was created. Lists with a menu of columns hide
 * this column in windows below 1280 px, unless the person has chosen to see it.
 */
export function createdColumn(label: string, locale: Locale): TableColumn<{ created: string }> {
  const dates = new Intl.DateTimeFormat(dateTag(languageTag(locale)), { dateStyle: 'medium' })
  return {
    id: 'created',
    label,
    isSortable: true,
    isSecondary: true,
    cell: ({ created }) => dates.format(new Date(created))
  }
}
