import {
  createRegisterImport,
  deleteRegisterImport,
  exportRefusedRows,
  getRegisterImport,
  listRefusedRows,
  listRegisterImports,
  runRegisterImport,
  undoRegisterImport
} from '../../contract/register-imports.ts'
import * as imports from '../domain/registers/register-imports.ts'
import { apiKeyOrPersonIdOf } from '../domain/sessions/sessions.ts'
import { administeredCompanyId, callerAndAdministeredCompany } from './kit/administered-company.ts'
import { type Api, authenticatedCaller } from './kit/context.ts'
import { csvDownload } from './kit/csv-downloads.ts'
import { mountIdempotent, mountList, mountNonJsonEndpoint } from './kit/mount.ts'
import { mountAdminEndpoint } from './kit/mount-admin.ts'

export function mountRegisterImports(app: Api): void {
  mountAdminEndpoint(app, getRegisterImport, imports.getRegisterImport)
  mountAdminEndpoint(app, listRefusedRows, imports.listRefusedRows)
  mountAdminEndpoint(app, runRegisterImport, imports.runRegisterImport)
  mountAdminEndpoint(app, undoRegisterImport, imports.undoRegisterImport)
  mountAdminEndpoint(app, deleteRegisterImport, imports.deleteRegisterImport)

  mountList(app, listRegisterImports, (input, c) =>
    imports.listRegisterImports(c.get('deps'), { ...input, company_id: administeredCompanyId(c) })
  )

  mountIdempotent(app, createRegisterImport, (input, c, idempotencyKey) =>
    imports.createRegisterImport(c.get('deps'), {
      ...callerAndAdministeredCompany(c),
      ...input,
      actor: apiKeyOrPersonIdOf(authenticatedCaller(c)),
      idempotencyKey
    })
  )

  mountNonJsonEndpoint(app, exportRefusedRows, async (input, c) => {
    const company_id = administeredCompanyId(c)
    const chunks = await imports.exportRefusedRows(c.get('deps'), { ...input, company_id })
    return csvDownload(c, 'refused', chunks)
  })
}
