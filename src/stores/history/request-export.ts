import { exportRequests } from '../../contract/requests.ts'
import { fetchFile } from '../download.ts'
import { pageLocale } from '../environment.ts'
import type { RequestFilter } from './request-filter.ts'

/** Returns the history entries (requests) that match the filter as a CSV file. */
export function fetchHistoryExport(filter: RequestFilter): Promise<Blob> {
  return fetchFile(exportRequests.path, { ...filter, locale: pageLocale() })
}
