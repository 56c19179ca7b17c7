import { exportRequests } from '../../contract/requests.ts'
import { fetchFile } from '../download.ts'
import { pageLocale } from '../environment.ts'
import type { RequestFilter } from './request-filter.ts'

/** The form of an exported history: for people, or with the fields of the API for programs. */
export type HistoryExportFormat = 'spreadsheet' | 'machine'

/** Returns a CSV file of the person's requests that match the filter. */
export function fetchHistoryExport(
  filter: RequestFilter,
  format: HistoryExportFormat
): Promise<Blob> {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return fetchFile(exportRequests.path, {
    ...filter,
    format,
    locale: pageLocale(),
    time_zone: format === 'spreadsheet' ? timeZone : undefined
  })
}
