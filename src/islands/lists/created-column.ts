import { type Locale, languageTag } from '../../i18n/index.ts'
import type { TableColumn } from './DataTable.tsx'

/**
 * Returns the column with the day on which a row was created. Lists that let people choose their
 * columns hide it at first in windows below 1280 px.
 */
export function createdColumn(label: string, locale: Locale): TableColumn<{ created: string }> {
  const dates = new Intl.DateTimeFormat(languageTag(locale), { dateStyle: 'medium' })
  return {
    id: 'created',
    label,
    isSortable: true,
    isSecondary: true,
    cell: ({ created }) => dates.format(new Date(created))
  }
}
