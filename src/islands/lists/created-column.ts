import { dateTag } from '../../core/text/date-tag.ts'
import { type Locale, languageTag } from '../../i18n/index.ts'
import type { TableColumn } from './DataTable.tsx'

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
