import { exportAuditEntries, listAuditEntries } from '../../contract/audit.ts'
import * as auditLog from '../domain/audit/audit-log.ts'
import { administeredCompany } from './kit/administered-company.ts'
import { type Api, signedInPerson } from './kit/context.ts'
import { csvDownload } from './kit/csv-downloads.ts'
import { mountList, mountStream } from './kit/mount.ts'

/** Mounts the endpoints that show a company's audit log. */
export function mountAudit(app: Api): void {
  mountList(app, listAuditEntries, ({ id: _, ...filter }, c) =>
    auditLog.listAuditEntries(c.get('deps'), { company_id: administeredCompany(c), ...filter })
  )

  mountStream(app, exportAuditEntries, async ({ id: _, ...filter }, c) => {
    const company_id = administeredCompany(c)
    const { caller } = c.get('inFlight') ?? {}
    const entries = { company_id, ...filter, caller }
    return csvDownload(
      c,
      'audit',
      auditLog.exportAuditEntries(c.get('deps'), entries),
      signedInPerson(c).permissions
    )
  })
}
