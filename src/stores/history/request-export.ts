import { exportRequests } from '../../contract/requests.ts'
import { fetchFile } from '../download.ts'
import { pageLocale } from '../environment.ts'
import type { RequestFilter } from './request-filter.ts'

/** Returns a CSV file of the person's requests that match the filter. */
export function fetchHistoryExport(filter: RequestFilter): Promise<Blob> {
  return fetchFile(exportRequests.path, { ...filter, locale: pageLocale() })
}
