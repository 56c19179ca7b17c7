import { fetchFile } from '../download.ts'
import { pageLocale } from '../environment.ts'
import type { AuditFilter } from './audit.ts'

export function fetchAuditExport(company: string, filter: AuditFilter): Promise<Blob> {
  return fetchFile(`/company/${company}/audit/export`, { ...filter, locale: pageLocale() })
}
