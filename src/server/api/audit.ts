import { exportAuditEntries, listAuditEntries } from '../../contract/audit.ts'
import * as auditList from '../domain/audit/audit-list.ts'
import { administeredCompanyId } from './kit/administered-company.ts'
import type { Api } from './kit/context.ts'
import { csvDownload } from './kit/csv-downloads.ts'
import { mountNonJsonEndpoint } from './kit/mount.ts'
import { mountAdminList } from './kit/mount-admin.ts'

export function mountAudit(app: Api): void {
  mountAdminList(app, listAuditEntries, auditList.listAuditEntries)

  mountNonJsonEndpoint(app, exportAuditEntries, async ({ id: _, ...filter }, c) => {
    const chunks = auditList.exportAuditEntries(c.get('deps'), {
      company_id: administeredCompanyId(c),
      ...filter
    })
    return csvDownload(c, 'audit', chunks)
  })
}
