import { exportRequests } from '../../contract/requests.ts'
import { fetchFile } from '../download.ts'
import { pageLocale } from '../environment.ts'
import type { RequestFilter } from './request-filter.ts'

export type HistoryExportFormat = 'spreadsheet' | 'machine'

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
