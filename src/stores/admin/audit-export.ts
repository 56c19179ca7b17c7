import { fetchFile } from '../download.ts'
import { pageLocale } from '../environment.ts'
import type { AuditFilter } from './audit.ts'

/** Returns the entries of the audit log that match the filter as a CSV file. */
export function fetchAuditExport(company: string, filter: AuditFilter): Promise<Blob> {
  return fetchFile(`/company/${company}/audit/export`, { ...filter, locale: pageLocale() })
}
